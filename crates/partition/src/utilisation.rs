//! Share of valid pages in GC victims as a function of the utilisation of the flash.

/// Number of bisections after which the interval is below the precision of a 53-bit significand.
const HALVINGS: u32 = 64;

/// Returns the worst-case share of valid pages in a victim: data blocks relative to all blocks
/// except the block that is kept empty for GC (OP-FCL, section 3).
pub fn worst(data_blocks: u32, spare_blocks: u32) -> f64 {
    let others = (f64::from(data_blocks) + f64::from(spare_blocks) - 1.0).max(1.0);
    (f64::from(data_blocks) / others).min(1.0)
}

/// Returns the utilisation at which the mean share of valid pages in victims is `victim`, under
/// uniform load: u = (u' - 1) / ln u'.
pub fn of_victims(victim: f64) -> f64 {
    match victim {
        ..=0.0 => 0.0,
        1.0.. => 1.0,
        _ => (victim - 1.0) / libm::log(victim),
    }
}

/// Returns U(u), the share of valid pages in victims at a utilisation u.
///
/// The share is the root u' below 1 of `u = (u' - 1) / ln u'`, found by bisection of its logarithm
/// y, which is above -1 / u. (u' = 1 satisfies `u' - 1 = u ln u'` for every u, but is not the
/// solution.)
pub fn victims(utilisation: f64) -> f64 {
    match utilisation {
        ..=0.0 => return 0.0,
        1.0.. => return 1.0,
        _ => {}
    }
    let (mut low, mut high) = (-1.0 / utilisation, 0.0);
    for _ in 0..HALVINGS {
        let y = f64::midpoint(low, high);
        if libm::expm1(y) / y < utilisation {
            low = y;
        } else {
            high = y;
        }
    }
    libm::exp(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_data_and_four_spare_blocks_give_half_valid_victims_at_worst() {
        assert_eq!(worst(3, 4), 0.5);
    }

    /// The values of the root are from tables of LFS cleaning. At the ends, no pages or all pages
    /// of victims are valid.
    #[test]
    fn victims_have_fewer_valid_pages_than_the_flash() {
        let known = [
            (0.5, 0.2032),
            (0.64, 0.3789),
            (0.8, 0.6286),
            (0.92, 0.8444),
            (0.95, 0.9017),
        ];
        for (utilisation, victim) in known {
            assert!(
                (victims(utilisation) - victim).abs() < 5e-5,
                "U({utilisation})"
            );
        }
        assert_eq!((victims(0.0), victims(1.0)), (0.0, 1.0));
    }

    #[test]
    fn utilisation_and_victim_share_are_inverse_functions() {
        for step in 2..100 {
            let utilisation = f64::from(step) / 100.0;
            assert!((of_victims(victims(utilisation)) - utilisation).abs() < 1e-12);
        }
    }
}
