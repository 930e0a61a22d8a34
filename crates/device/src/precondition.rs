//! Bringing a device into the state in which it is measured, without timing.

use wordline_ftl::instant::{Instant, InstantError, Work};
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::Stream;
use wordline_nand::{Array, Layout};

/// What to do before the clock starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precondition {
    /// Share of the user pages written once, in order. Ratio, 0 to 1.
    pub fill_ratio: f64,
    /// Random page writes after that, over the filled pages. Times the filled pages.
    pub overwrite_ratio: f64,
    /// Whether to go on until write amplification settles.
    pub settle: bool,
    /// Settled means: two successive windows, each as many writes as half the filled pages, differ
    /// by less than this share.
    pub settle_tolerance_ratio: f64,
    /// Random page writes at most while settling. Times the filled pages.
    pub settle_limit_ratio: f64,
    /// Seed of the random stream `precondition`.
    pub seed: u64,
}

/// What preconditioning did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preconditioned {
    /// Pages written in order.
    pub filled: u64,
    /// All flash work after the fill.
    pub overwrites: Work,
    /// Flash work of the fill.
    pub fill: Work,
    /// Write amplification of the last window, if any page was overwritten.
    pub settled_at: Option<f64>,
    /// False if the limit came before write amplification settled, or if it was interrupted.
    pub complete: bool,
}

/// Pages written between two looks at whether to go on.
const STRIDE: u64 = 1 << 16;

impl Precondition {
    /// Carries it out. `go_on` hears how many pages have been written and may end it early.
    pub fn run(
        &self,
        mapping: &mut impl Mapping,
        array: &mut Array,
        layout: Layout,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Result<Preconditioned, InstantError> {
        let pages = (f64::from(mapping.user_pages()) * self.fill_ratio).round() as u64;
        let mut device = Instant::new(mapping, array, layout);
        let mut done = Preconditioned {
            complete: true,
            ..Preconditioned::default()
        };
        for page in 0..pages {
            device.write(Lpn(page as u32))?;
            if page % STRIDE == STRIDE - 1 && !go_on(page + 1) {
                done.complete = false;
                break;
            }
        }
        done.fill = device.work();
        done.filled = done.fill.written;
        if pages == 0 || !done.complete {
            return Ok(done);
        }
        let mut random = Stream::new(self.seed, "precondition");
        let mut overwrite =
            |device: &mut Instant<'_, _>, count: u64| -> Result<bool, InstantError> {
                for written in 0..count {
                    device.write(Lpn(random.below(pages) as u32))?;
                    if written % STRIDE == STRIDE - 1 && !go_on(device.work().written) {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
        let count = (pages as f64 * self.overwrite_ratio).round() as u64;
        done.complete = overwrite(&mut device, count)?;
        if count > 0 {
            done.settled_at = device.work().since(done.fill).write_amplification();
        }
        if self.settle && done.complete {
            let window = (pages / 2).max(1);
            let limit = (pages as f64 * self.settle_limit_ratio) as u64;
            let mut before: Option<f64> = None;
            let start = device.work();
            loop {
                let mark = device.work();
                if mark.since(start).written >= limit || !overwrite(&mut device, window)? {
                    done.complete = false;
                    break;
                }
                let now = device.work().since(mark).write_amplification();
                done.settled_at = now;
                let close = |(a, b): (f64, f64)| (a / b - 1.0).abs() < self.settle_tolerance_ratio;
                if now.zip(before).is_some_and(close) {
                    break;
                }
                before = now;
            }
        }
        done.overwrites = device.work().since(done.fill);
        Ok(done)
    }
}
