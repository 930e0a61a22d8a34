//! Numbers at points, and between them.

use crate::fault::Fault;

/// Between the points that `at` lies between, which rise: the place of the lower, and the share of the way to the next.
pub(crate) fn place(points: &[f64], at: f64) -> (usize, f64) {
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

/// On a straight line of the logarithm of `values` there, or of the values where one is zero; zero where there are none.
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

/// What is wrong with points and the shares at them, each list with its key and whether it may be empty.
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
        let reason = "the points are not in rising order, or there is none".into();
        return fault("cycles", reason, "give at least one, in rising order");
    }
    for (key, values, may_be_empty) in lists {
        let (given, points) = (values.len(), cycles.len());
        if given != points && !(*may_be_empty && given == 0) {
            let reason = format!("{given} numbers are given for {points} points");
            return fault(key, reason, "give one for each of cycles");
        }
        if values.iter().any(|value| !(0.0..=most).contains(value)) {
            let reason = format!("a number is not between 0 and {most}");
            return fault(key, reason, "give shares");
        }
    }
    None
}
