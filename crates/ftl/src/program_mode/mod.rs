//! Program modes. A regulator selects the mode in which pages are programmed or rewritten, which
//! determines the costs of reads and writes, and wear.
//!
//! The regulator observes every host access to a page and selects the program mode of pages. It has
//! no clock; the device reports whether requests wait.

pub mod bloom;
pub mod differentiated_ecc;
pub mod fixed;
pub mod history;
pub mod li;
pub mod r_l;
pub mod r_w;
pub mod r_w_l;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::ProgramMode;

use crate::lpn::Lpn;

/// Characteristic of a page, from its accesses including the current one (Li et al., section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Characteristic {
    /// No earlier access is known.
    #[default]
    New,
    /// All accesses are reads.
    ReadOnly,
    /// All accesses are writes.
    WriteOnly,
    /// Some accesses are reads, and some are writes.
    Interleaved,
}

/// Program mode of a host page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graded {
    /// Mode of the program.
    pub mode: ProgramMode,
    /// Whether the page must be rewritten later in the mode of [`Regulate::rewritten`].
    pub rewrite: bool,
}

impl Graded {
    /// Returns a program without a later rewrite.
    pub const fn once(mode: ProgramMode) -> Self {
        Self {
            mode,
            rewrite: false,
        }
    }
}

/// Point in time at which pages are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// Never.
    Never,
    /// When their die has no work for the host.
    Idle,
    /// Immediately.
    AtOnce,
}

/// Controller memory that a scheme needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Bits in addition to the map entry of each page.
    pub bits_per_page: u32,
    /// Additional bytes, independent of the size of the device.
    pub bytes: u32,
}

/// Selects program modes.
pub trait Regulate {
    /// Returns the program mode of data older than the run.
    fn preloaded(&self) -> ProgramMode;
    /// Reports the start of a host request.
    fn begins(&mut self) {}
    /// Reports a host access to a page. The device passes the result back when the access is
    /// issued.
    fn access(&mut self, _page: Lpn, _write: bool) -> Characteristic {
        Characteristic::New
    }
    /// Returns `true` if [`Regulate::write`] depends on waiting requests.
    fn asks_for_queue(&self) -> bool {
        false
    }
    /// Returns the program mode of a page when its write is issued. `queued` states whether an
    /// operation of another host request waits in the device.
    fn write(&self, page: Lpn, found: Characteristic, queued: bool) -> Graded;
    /// Returns `true` if a page programmed in `mode`, whose read is issued, must be rewritten.
    fn read(&self, _page: Lpn, _found: Characteristic, _mode: ProgramMode) -> bool {
        false
    }
    /// Returns the time at which pages are rewritten.
    fn rewriting(&self) -> Rewriting {
        Rewriting::Never
    }
    /// Returns the mode of rewrites. A page that already has this mode is not rewritten.
    fn rewritten(&self) -> ProgramMode {
        ProgramMode::High
    }
    /// Returns the mode of a page that GC moves and that was programmed in `mode`. The page number
    /// is `None` for metadata, or if the mapping does not track it.
    fn moved(&self, _page: Option<Lpn>, mode: ProgramMode) -> ProgramMode {
        mode
    }
    /// Returns `true` if [`Regulate::moved`] depends on the page.
    fn regrades(&self) -> bool {
        false
    }
    /// Returns the controller memory that the scheme needs.
    fn storage(&self) -> Storage;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// In which mode are pages programmed, and which are rewritten?
            pub enum Regulation at "ftl.regulation" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// Regulator of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Regulator { $($Variant($file::State)),+ }

        impl Regulation {
            /// Returns the memory estimate of the state for `user_pages` pages.
            pub fn memory(&self, user_pages: u32, fill: Fill) -> Vec<Table> {
                match self { $(Self::$Variant(_) => $file::State::memory(user_pages, fill)),+ }
            }
        }

        impl Regulator {
            /// Creates the state of a policy before the first request, for `user_pages` pages.
            pub fn new(policy: &Regulation, user_pages: u32) -> Self {
                match policy {
                    $(Regulation::$Variant(policy) => Self::$Variant($file::State::new(policy, user_pages))),+
                }
            }
            /// Returns the regulator as a trait object.
            pub fn policy(&self) -> &dyn Regulate {
                match self { $(Self::$Variant(state) => state),+ }
            }
            /// Returns the regulator as a mutable trait object.
            pub fn policy_mut(&mut self) -> &mut dyn Regulate {
                match self { $(Self::$Variant(state) => state),+ }
            }
        }
    };
}

members! {
    "fixed" => Fixed(fixed),
    "li" => Li(li),
    "r-w" => RW(r_w),
    "r-l" => RL(r_l),
    "r-w-l" => RWL(r_w_l),
    "differentiated-ecc" => DifferentiatedEcc(differentiated_ecc),
}

impl Default for Regulation {
    fn default() -> Self {
        Self::Fixed(fixed::Fixed::default())
    }
}

impl Regulation {
    /// Returns `true` for the default: all pages in mode `medium`, and no rewrites.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
