//! Preconditioning, which brings a device into its initial state without timing.

use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_nand::{Array, Layout};

use crate::lpn::Lpn;
use crate::mapping::Mapping;
use crate::recovery::ProgramObserver;
use crate::untimed::{FlashOps, InstantError, UntimedFtl};

/// Writes to perform before the clock starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    /// Number of logical pages to write once, sequentially from the first.
    pub fill_pages: u32,
    /// Whether the fill writes the pages in a random order instead.
    pub scattered: bool,
    /// Number of random page writes after the fill, to the filled pages.
    pub overwrite_pages: u64,
    /// Criterion for further random page writes until steady state, if any.
    pub settle: Option<Settle>,
    /// Seed of the random stream `precondition`.
    pub seed: u64,
}

/// Criterion for the end of the random page writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settle {
    /// Tolerance of steady state: the write amplification of two successive windows must differ by
    /// less than this share. A window has half as many writes as there are filled pages. Ratio.
    pub tolerance_ratio: f64,
    /// Number of page writes after which the writes end without steady state. It is checked after
    /// each window, so up to one window more may be written.
    pub limit_pages: u64,
}

/// Outcome of preconditioning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preconditioned {
    /// Flash operations of the fill.
    pub fill: FlashOps,
    /// Flash operations of the random writes.
    pub overwrites: FlashOps,
    /// Write amplification of the last window, or of all random writes if there was no window;
    /// `None` without random writes.
    pub last_write_amplification: Option<f64>,
    /// Whether the limit was reached before steady state.
    pub unsettled: bool,
    /// Whether preconditioning was interrupted.
    pub stopped: bool,
}

/// Number of pages written between two checks for interruption. A sequential fill rounds it up to
/// [`Filler::stride`]. Fewer random writes, such as those of a small window, are not interrupted.
const STRIDE: u32 = 1 << 16;

/// Number of random pages drawn together, so that their map entries can be prefetched.
const AHEAD: usize = 32;

/// Preconditioning in progress.
struct Filler<'a, M, N> {
    device: UntimedFtl<'a, M, N>,
    /// Number of pages of a sequential fill between two checks for interruption; a multiple of one
    /// block per plane.
    stride: u32,
    random: Rng,
    pages: u64,
    go_on: &'a mut dyn FnMut(u64) -> bool,
}

impl<M: Mapping, N: ProgramObserver> Filler<'_, M, N> {
    /// Writes the first `pages` pages sequentially. Returns `false` if interrupted.
    fn fill(&mut self, pages: u32) -> Result<bool, InstantError> {
        let mut next = 0;
        while pages - next >= self.stride {
            self.device.write_row(next..next + self.stride)?;
            next += self.stride;
            if !(self.go_on)(self.device.work().written) {
                return Ok(false);
            }
        }
        self.device.write_row(next..pages)?;
        Ok(true)
    }
    /// Writes the first `pages` pages in a random order. Returns `false` if interrupted.
    fn scatter(&mut self, pages: u32, seed: u64) -> Result<bool, InstantError> {
        let mut order: Vec<u32> = (0..pages).collect();
        let mut random = Rng::new(seed, "scattered");
        for left in (1..pages).rev() {
            order.swap(left as usize, random.below(u64::from(left) + 1) as usize);
        }
        for stride in order.chunks(STRIDE as usize) {
            for page in stride {
                self.device.write(Lpn(*page))?;
            }
            if !(self.go_on)(self.device.work().written) {
                return Ok(false);
            }
        }
        Ok(true)
    }
    /// Writes `count` random pages. Returns `false` if interrupted.
    fn overwrite(&mut self, count: u64) -> Result<bool, InstantError> {
        let mut drawn = [0; AHEAD];
        let mut number = 0;
        while number < count {
            let ahead = &mut drawn[..AHEAD.min((count - number) as usize)];
            for page in ahead.iter_mut() {
                *page = self.random.below(self.pages) as u32;
            }
            self.device.prefetch(ahead);
            for page in ahead {
                self.device.write(Lpn(*page))?;
                number += 1;
                if number % u64::from(STRIDE) == 0 && !(self.go_on)(self.device.work().written) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
    /// Overwrites one window after another until steady state, the limit or an interruption, and
    /// records the outcome.
    fn settle(&mut self, settle: Settle, done: &mut Preconditioned) -> Result<(), InstantError> {
        let window = (self.pages / 2).max(1);
        let start = self.device.work();
        let mut before: Option<f64> = None;
        loop {
            let mark = self.device.work();
            if mark.since(start).written >= settle.limit_pages {
                done.unsettled = true;
                return Ok(());
            }
            if !self.overwrite(window)? {
                done.stopped = true;
                return Ok(());
            }
            let now = self.device.work().since(mark).write_amplification();
            done.last_write_amplification = now;
            let close =
                |(now, before): (f64, f64)| (now / before - 1.0).abs() < settle.tolerance_ratio;
            if now.zip(before).is_some_and(close) {
                return Ok(());
            }
            before = now;
        }
    }
}

impl Precondition {
    /// Runs preconditioning. `note` observes every program. `go_on` receives the number of pages
    /// written so far, and returns `false` to end preconditioning early.
    pub fn run(
        &self,
        mapping: &mut impl Mapping,
        array: &mut Array,
        layout: Layout,
        note: impl ProgramObserver,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Preconditioned, InstantError> {
        let stride = STRIDE.next_multiple_of(layout.planes() * layout.pages_per_block);
        let device = UntimedFtl::noting(mapping, array, layout, note);
        self.write(device, stride, go_on)
    }

    fn write<M: Mapping>(
        &self,
        device: UntimedFtl<M, impl ProgramObserver>,
        stride: u32,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Preconditioned, InstantError> {
        let mut done = Preconditioned::default();
        let random = Rng::new(self.seed, "precondition");
        let pages = u64::from(self.fill_pages);
        let mut filler = Filler {
            device,
            stride,
            random,
            pages,
            go_on,
        };
        done.stopped = !if self.scattered {
            filler.scatter(self.fill_pages, self.seed)?
        } else {
            filler.fill(self.fill_pages)?
        };
        done.fill = filler.device.work();
        if pages == 0 || done.stopped {
            return Ok(done);
        }
        done.stopped = !filler.overwrite(self.overwrite_pages)?;
        done.last_write_amplification = filler.device.work().since(done.fill).write_amplification();
        if let Some(settle) = self.settle.filter(|_| !done.stopped) {
            filler.settle(settle, &mut done)?;
        }
        done.overwrites = filler.device.work().since(done.fill);
        Ok(done)
    }
}
