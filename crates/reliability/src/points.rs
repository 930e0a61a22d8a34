//! Interpolation between measured points.

use crate::fault::Fault;

/// Returns the position of `at` among rising `points`: the index of the lower point, and the
/// fraction of the distance to the next point.
#[inline]
pub(crate) fn place(points: &[f64], at: f64) -> (usize, f64) {
    if points.len() <= 1 {
        return (0, 0.0);
    }
    let above = points.partition_point(|&point| point <= at);
    if above == 0 {
        return (0, 0.0);
    }
    match points.get(above) {
        Some(next) => {
            let below = points[above - 1];
            (above - 1, (at - below) / (next - below))
        }
        None => (above - 1, 0.0),
    }
}

/// Interpolates the logarithm of `values` linearly, or the values themselves if one is zero.
/// Returns 0 without values.
#[inline]
pub(crate) fn between(values: &[f64], (below, share): (usize, f64)) -> f64 {
    let at = |place: usize| values.get(place).copied().unwrap_or_default();
    let (low, high) = (at(below), at(below + 1));
    if share == 0.0 {
        return low;
    }
    if low <= 0.0 || high <= 0.0 {
        return low + (high - low) * share;
    }
    libm::exp(libm::log(low) * (1.0 - share) + libm::log(high) * share)
}

/// Returns the fault of points and lists of shares, if any. Each list has its key, its values, and
/// whether it may be empty. Shares are at most `most`.
pub(crate) fn fault(
    cycles: &[f64],
    lists: &[(&'static str, &[f64], bool)],
    most: f64,
) -> Option<Fault> {
    let fault = |key, reason, remedy| {
        Some(Fault {
            key,
            reason,
            remedy,
        })
    };
    if cycles.is_empty() || !cycles.is_sorted_by(|one, next| one < next) {
        let reason = "there are no points, or they are not in rising order".into();
        return fault("cycles", reason, "give at least one point, in rising order");
    }
    for (key, values, may_be_empty) in lists {
        let (given, points) = (values.len(), cycles.len());
        if given != points && !(*may_be_empty && given == 0) {
            let reason = format!("there are {given} values for {points} points");
            return fault(key, reason, "give one value for each point in `cycles`");
        }
        if values.iter().any(|value| !(0.0..=most).contains(value)) {
            let reason = format!("a value is not between 0 and {most}");
            return fault(key, reason, "set every value to a share in that range");
        }
    }
    None
}
