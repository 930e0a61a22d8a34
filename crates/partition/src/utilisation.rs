//! How full the blocks are that collections take, by how full the flash is.

/// Halvings of an interval until nothing is left of it in 53 bits.
const HALVINGS: u32 = 64;

/// The share of data blocks among all but the one that is kept empty for collections: the worst case of the pages of
/// a victim that are valid (OP-FCL, section 3).
pub fn worst(data_blocks: u32, spare_blocks: u32) -> f64 {
    let others = (f64::from(data_blocks) + f64::from(spare_blocks) - 1.0).max(1.0);
    (f64::from(data_blocks) / others).min(1.0)
}

/// The utilisation at which victims have the share `victim` of their pages valid on average, under uniform load: u =
/// (u' - 1) / ln u'.
pub fn of_victims(victim: f64) -> f64 {
    match victim {
        ..=0.0 => 0.0,
        1.0.. => 1.0,
        _ => (victim - 1.0) / libm::log(victim),
    }
}

/// U(u): the share of valid pages in victims at a utilisation u: the root u' below 1 of u = (u' - 1) / ln u', by
/// bisection of its logarithm y, which lies above -1 / u. (u' = 1 solves it in the limit for any u, and says nothing.)
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
    fn three_data_blocks_beside_four_are_half_full_at_worst() {
        assert_eq!(worst(3, 4), 0.5);
    }

    /// Values of the root, from tables of LFS cleaning; at the ends nothing and everything is valid.
    #[test]
    fn victims_are_emptier_than_the_flash() {
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
    fn the_two_conversions_are_inverse() {
        for step in 2..100 {
            let utilisation = f64::from(step) / 100.0;
            assert!((of_victims(victims(utilisation)) - utilisation).abs() < 1e-12);
        }
    }
}
