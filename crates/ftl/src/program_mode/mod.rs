//! How writes are programmed, and which pages are written again for the sake of their reads: regulation of the costs of
//! reads and writes, and of wear.
//!
//! A regulator hears of every access of the host to a page, and says how pages are programmed. It knows no time; whether
//! requests wait, it is told.

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

/// What the accesses to a page, the present one included, tell of it (Li et al., section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Characteristic {
    /// It was never accessed before, as far as is known.
    #[default]
    New,
    /// All are reads.
    ReadOnly,
    /// All are writes.
    WriteOnly,
    /// Some are reads, some are writes.
    Interleaved,
}

/// How a page of the host is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graded {
    /// The mode.
    pub mode: ProgramMode,
    /// Whether it is to be written again as [`Regulate::rewritten`] says.
    pub rewrite: bool,
}

impl Graded {
    /// Programmed so, and that is it.
    pub const fn once(mode: ProgramMode) -> Self {
        Self {
            mode,
            rewrite: false,
        }
    }
}

/// When pages are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// Never.
    Never,
    /// When their die has nothing to do for the host.
    Idle,
    /// At once.
    AtOnce,
}

/// What a scheme keeps in the memory of a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Bits beside the map entry of each page.
    pub bits_per_page: u32,
    /// Bytes beside, whatever the size of the device.
    pub bytes: u32,
}

/// Decides how pages are programmed.
pub trait Regulate {
    /// How pages were programmed that were there before the run.
    fn preloaded(&self) -> ProgramMode;
    /// A request of the host begins.
    fn begins(&mut self) {}
    /// The host reads or writes a page. What is returned is given back when the access is served.
    fn access(&mut self, _page: Lpn, _write: bool) -> Characteristic {
        Characteristic::New
    }
    /// Whether [`Regulate::write`] makes a difference of requests that wait.
    fn asks_for_queue(&self) -> bool {
        false
    }
    /// A write is issued: how its page is programmed. `queued`: an operation of another request of the host waits in the
    /// device.
    fn write(&self, page: Lpn, found: Characteristic, queued: bool) -> Graded;
    /// A read of a page is issued that was programmed in `mode`: whether the page is to be written again.
    fn read(&self, _page: Lpn, _found: Characteristic, _mode: ProgramMode) -> bool {
        false
    }
    /// When pages are written again.
    fn rewriting(&self) -> Rewriting {
        Rewriting::Never
    }
    /// How they are then. A page that is so already is not.
    fn rewritten(&self) -> ProgramMode {
        ProgramMode::High
    }
    /// How a page is programmed that a collection moves and that was programmed in `mode`; of pages of metadata, and of all
    /// pages where the mapping does not know, no number is known.
    fn moved(&self, _page: Option<Lpn>, mode: ProgramMode) -> ProgramMode {
        mode
    }
    /// Whether [`Regulate::moved`] makes a difference of pages.
    fn regrades(&self) -> bool {
        false
    }
    /// What the scheme keeps.
    fn storage(&self) -> Storage;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How are pages programmed, and which are written again?
            pub enum Regulation at "ftl.regulation" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The regulator of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Regulator { $($Variant($file::State)),+ }

        impl Regulation {
            /// What its state takes of memory, of so many pages.
            pub fn memory(&self, user_pages: u32, fill: Fill) -> Vec<Table> {
                match self { $(Self::$Variant(_) => $file::State::memory(user_pages, fill)),+ }
            }
        }

        impl Regulator {
            /// The state of a policy before the first request, for so many pages.
            pub fn new(policy: &Regulation, user_pages: u32) -> Self {
                match policy {
                    $(Regulation::$Variant(policy) => Self::$Variant($file::State::new(policy, user_pages))),+
                }
            }
            /// As a regulator.
            pub fn policy(&self) -> &dyn Regulate {
                match self { $(Self::$Variant(state) => state),+ }
            }
            /// The same, to tell it something.
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
    /// Whether it is the default: pages of medium cost, and nothing else.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
