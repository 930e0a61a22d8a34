//! Latency components: the shares of a response time.
//!
//! [`ALL`](LatencyComponent::ALL) is the only table of components. Everything else derives from it:
//! sums, columns of `requests.parquet`, metrics of the summary, Python types, and colours of the
//! report. A new component is one row here plus the place at which its time is measured. A
//! component that an SSD measures per page is marked `in page` and becomes a field of
//! [`PageComponents`].

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Condition under which a component is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Always.
    Always,
    /// Only if requests spent time in the component.
    Spent,
}

/// Latency component, as displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyComponent {
    /// Key of the component: the name of its field in [`LatencyComponents`].
    pub key: &'static str,
    /// Column in request tables. Picoseconds.
    pub column: &'static str,
    /// Metric in summaries. Microseconds.
    pub figure: &'static str,
    /// Name in tables and legends.
    pub name: &'static str,
    /// Activity of the request during this time.
    pub meaning: &'static str,
    /// Colour in charts, in CSS notation.
    pub colour: &'static str,
    /// Condition under which the component is displayed.
    pub shown: Shown,
}

macro_rules! parts {
    ($($rows:tt)+) => {
        request_parts! { $($rows)+ }
        page_parts! { [] $($rows)+ }
    };
}

/// Generates [`LatencyComponents`] and [`LatencyComponent::ALL`] from the rows of [`parts!`].
macro_rules! request_parts {
    ($($field:ident $(in $_page:ident)?, $name:literal, $colour:literal, $shown:ident, $meaning:literal;)+) => {
        /// Latency components of a request. A request of several pages has the components of the
        /// page that completed last; their sum equals the response time exactly.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct LatencyComponents {
            $(#[doc = $meaning] pub $field: Time,)+
        }

        impl LatencyComponent {
            /// All components, in the order in which a request passes them.
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

        impl LatencyComponents {
            /// Returns the times in the order of [`LatencyComponent::ALL`].
            #[inline]
            pub const fn in_order(&self) -> [Time; LATENCY_COMPONENTS] {
                [$(self.$field),+]
            }
            /// Adds the components of `further`. Always inlined, so that components known to be
            /// zero cost nothing.
            #[inline(always)]
            pub fn add(&mut self, further: &Self) {
                $(self.$field += further.$field;)+
            }
        }
    };
}

/// Generates [`PageComponents`] from the rows of [`parts!`] marked `in page`, row by row.
macro_rules! page_parts {
    ([$($kept:tt)*] $field:ident in page, $_n:literal, $_c:literal, $_s:ident, $meaning:literal; $($rows:tt)*) => {
        page_parts! { [$($kept)* $field $meaning,] $($rows)* }
    };
    ([$($kept:tt)*] $_field:ident, $_n:literal, $_c:literal, $_s:ident, $_m:literal; $($rows:tt)*) => {
        page_parts! { [$($kept)*] $($rows)* }
    };
    ([$($field:ident $meaning:literal,)+]) => {
        /// Latency components of a page inside the device, from the arrival of its request at the
        /// device. A device measures these components per page.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct PageComponents {
            $(#[doc = $meaning] pub $field: Time,)+
        }

        impl PageComponents {
            /// Zero in all components.
            pub const NONE: Self = Self { $($field: Time::ZERO),+ };

            /// Adds the components of `further`.
            #[inline]
            pub fn add(&mut self, further: &Self) {
                $(self.$field += further.$field;)+
            }
            /// Returns the sum of the components.
            #[inline]
            pub fn total(&self) -> Time {
                Time::ZERO $(+ self.$field)+
            }
        }

        impl From<PageComponents> for LatencyComponents {
            #[inline]
            fn from(page: PageComponents) -> Self {
                Self { $($field: page.$field,)+ ..Self::default() }
            }
        }
    };
}

parts! {
    host_queue, "host queue", "#9aa1ab", Always,
        "Waiting for a slot of the device's queue, from arrival until the device accepted the command.";
    host_side_wait, "host side wait", "#c7b299", Spent,
        "Waiting on the host: for its worker thread, a core, the lock, or the bridge.";
    host_side, "host side", "#7f6a4d", Spent,
        "Host CPU time for the request, and time of the bridge.";
    link_wait, "link wait", "#d9a5c7", Spent,
        "Waiting for the host's link behind other requests.";
    link, "link", "#b07aa1", Spent,
        "Command, data and completion on the host's link, and its fixed latencies.";
    buffer_wait, "buffer wait", "#c9d27a", Spent,
        "Waiting in the DRAM buffer: for memory, for its port, or for flash operations that another request started.";
    buffer, "buffer", "#8fa83a", Spent,
        "Data transfer between the host and the DRAM buffer, including the latency of its first byte.";
    queue in page, "device queue", "#5d6570", Spent,
        "Waiting in the device's queue until the scheduler issued the operation of the page.";
    die_wait in page, "die wait", "#e0a30a", Always,
        "Waiting for the die behind host operations, for an earlier write of the page, or while the operation was suspended.";
    bus_wait in page, "bus wait", "#7cc0ea", Always,
        "Waiting for the channel's bus behind host operations.";
    bus in page, "bus", "#1f78b4", Always,
        "Commands, addresses, data and status on the bus.";
    cell in page, "cell", "#12a07a", Always,
        "Array operations, and the short busy times of multi-plane commands.";
    decode, "decoding", "#4a3fa0", Spent,
        "Decoding of the error-correcting code after the last bit of the page has arrived.";
    gc in page, "GC interference", "#c2457f", Always,
        "Waiting for a die or a bus behind garbage collection, or for a free block.";
    disk_queue, "disk queue", "#a8795b", Spent,
        "Waiting in the queue of a disk behind other requests.";
    disk_overhead, "disk overhead", "#c49c94", Spent,
        "Command processing in the controller of a disk.";
    seek, "seek", "#8c564b", Spent,
        "Arm movement, head switches and write settling of a disk; all positioning if the model has no positions.";
    rotation, "rotation", "#e377c2", Spent,
        "Waiting until the sectors have rotated under the head of a disk.";
    transfer, "disk transfer", "#d98f5f", Spent,
        "Data transfer of a disk: sectors passing under its head, and the rest of their transfer on its bus.";
}

/// Number of latency components.
pub const LATENCY_COMPONENTS: usize = LatencyComponent::ALL.len();

impl LatencyComponents {
    /// Returns the response time, which is the sum of the components.
    #[inline]
    pub fn total(&self) -> Time {
        self.in_order()
            .into_iter()
            .fold(Time::ZERO, |sum, part| sum + part)
    }
}
