//! Where the time of a request went: the parts of a response time.
//!
//! [`ALL`](Part::ALL) is the one table of them. Sums, columns of `requests.parquet`, the breakdown of a summary, its
//! metrics, the Python types and the colours of the report come from it: a new part is a line here, and the place
//! where its time is measured. A part that an SSD measures for every page is marked `in page`: a field of
//! [`PageParts`].

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// When a part is shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Always.
    Always,
    /// Where requests spent time in it: most devices do not have it.
    Spent,
}

/// How a part is told to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its key, the field of [`Parts`].
    pub key: &'static str,
    /// Its column in tables of requests, in picoseconds.
    pub column: &'static str,
    /// Its figure in summaries, in microseconds.
    pub figure: &'static str,
    /// Its name in tables and legends.
    pub name: &'static str,
    /// What the request does meanwhile.
    pub meaning: &'static str,
    /// Its colour in charts, as in CSS.
    pub colour: &'static str,
    /// When it is shown.
    pub shown: Shown,
}

macro_rules! parts {
    ($($rows:tt)+) => {
        request_parts! { $($rows)+ }
        page_parts! { [] $($rows)+ }
    };
}

/// Makes [`Parts`] and [`Part::ALL`] of the rows of [`parts!`].
macro_rules! request_parts {
    ($($field:ident $(in $_page:ident)?, $name:literal, $colour:literal, $shown:ident, $meaning:literal;)+) => {
        /// Where the time of a request went. A request that touches several pages is described by the page
        /// that was done last; the sum of the parts is the response time, exactly.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Parts {
            $(#[doc = $meaning] pub $field: Time,)+
        }

        impl Part {
            /// Every part, in the order in which a request goes through them.
            pub const ALL: &[Self] = &[$(Self {
                key: stringify!($field),
                column: concat!(stringify!($field), "_ps"),
                figure: concat!(stringify!($field), "_us"),
                name: $name,
                meaning: $meaning,
                colour: $colour,
                shown: Shown::$shown,
            }),+];
        }

        impl Parts {
            /// The times, in the order of [`Part::ALL`].
            #[inline]
            pub const fn in_order(&self) -> [Time; PARTS] {
                [$(self.$field),+]
            }
            /// Adds what the request went through in `further`. In line always: what is known to be zero
            /// costs nothing then.
            #[inline(always)]
            pub fn add(&mut self, further: &Self) {
                $(self.$field += further.$field;)+
            }
        }
    };
}

/// Makes [`PageParts`] of the rows of [`parts!`] that are marked `in page`; takes one row after the other.
macro_rules! page_parts {
    ([$($kept:tt)*] $field:ident in page, $_n:literal, $_c:literal, $_s:ident, $meaning:literal; $($rows:tt)*) => {
        page_parts! { [$($kept)* $field $meaning,] $($rows)* }
    };
    ([$($kept:tt)*] $_field:ident, $_n:literal, $_c:literal, $_s:ident, $_m:literal; $($rows:tt)*) => {
        page_parts! { [$($kept)*] $($rows)* }
    };
    ([$($field:ident $meaning:literal,)+]) => {
        /// Where the time of a page went inside the device, from the moment in which its request began there:
        /// the parts that a device measures for every page.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct PageParts {
            $(#[doc = $meaning] pub $field: Time,)+
        }

        impl PageParts {
            /// No time in any part.
            pub const NONE: Self = Self { $($field: Time::ZERO),+ };

            /// Adds what the page went through in `further`.
            #[inline]
            pub fn add(&mut self, further: &Self) {
                $(self.$field += further.$field;)+
            }
            /// The sum of the parts.
            #[inline]
            pub fn total(&self) -> Time {
                Time::ZERO $(+ self.$field)+
            }
        }

        impl From<PageParts> for Parts {
            #[inline]
            fn from(page: PageParts) -> Self {
                Self { $($field: page.$field,)+ ..Self::default() }
            }
        }
    };
}

parts! {
    host_queue, "host queue", "#9aa1ab", Always,
        "Waiting for a slot, from arrival until the device took the command.";
    host_side_wait, "host side wait", "#c7b299", Spent,
        "Waiting on the host: for the thread of its worker, a core, the lock, or the bridge.";
    host_side, "host side", "#7f6a4d", Spent,
        "The CPU of the host at work for the request, and the bridge.";
    link_wait, "link wait", "#d9a5c7", Spent,
        "Waiting for the host's link behind other requests.";
    link, "link", "#b07aa1", Spent,
        "Command, data and completion on the host's link, and the fixed costs of crossing it.";
    buffer_wait, "buffer wait", "#c9d27a", Spent,
        "Waiting in the DRAM buffer: for memory, for its port, or for work of the flash that another request began.";
    buffer, "buffer", "#8fa83a", Spent,
        "Data moving between the host and the DRAM buffer, and waiting for its first byte.";
    queue in page, "device queue", "#5d6570", Spent,
        "Waiting in the device's queue until the scheduler chose the page.";
    die_wait in page, "die wait", "#e0a30a", Always,
        "Waiting for the die behind operations of the host, for an earlier write of the page, or while the operation was suspended.";
    bus_wait in page, "bus wait", "#7cc0ea", Always,
        "Waiting for the channel's bus behind operations of the host.";
    bus in page, "bus", "#1f78b4", Always,
        "Commands, addresses, data and status on the bus.";
    cell in page, "cell", "#12a07a", Always,
        "The memory array at work, and the short busy times of commands for several planes.";
    decode, "decoding", "#4a3fa0", Spent,
        "The decoder of the error correcting code at work on a page after its last bit has come.";
    gc in page, "GC interference", "#c2457f", Always,
        "Waiting for a die or a bus behind garbage collection, or for a free block.";
    disk_queue, "disk queue", "#a8795b", Spent,
        "Waiting in the queue of a disk behind other requests.";
    disk_overhead, "disk overhead", "#c49c94", Spent,
        "Commands in the controller of a disk.";
    seek, "seek", "#8c564b", Spent,
        "The arm of a disk moving, heads being switched, writes settling; all of the positioning where a model knows no positions.";
    rotation, "rotation", "#e377c2", Spent,
        "The platter of a disk turning to the sectors.";
    transfer, "disk transfer", "#d98f5f", Spent,
        "Sectors passing under the head of a disk, and what of them is left on its bus.";
}

/// How many parts there are.
pub const PARTS: usize = Part::ALL.len();

impl Parts {
    /// The response time.
    #[inline]
    pub fn total(&self) -> Time {
        self.in_order()
            .into_iter()
            .fold(Time::ZERO, |sum, part| sum + part)
    }
}
