//! The `[[streams]]` tables: concurrent streams of requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_host_link::Class;
use wordline_workload::generate;

use super::Replay;

/// Maximum number of streams. The limit bounds memory, because each stream takes up to a megabyte
/// for its response times.
pub(super) const MAX_STREAMS: usize = 256;

/// Sequence of requests, such as the requests of a host, a process or a queue. Streams are
/// independent and share the device. Their addresses overlap unless their working sets or traces
/// are disjoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stream {
    /// Unique name of the stream: up to 64 letters, digits, `-` and `_`.
    pub name: String,
    /// Priority class of the stream's commands, if `host.interface` distinguishes streams.
    pub class: Class,
    /// Load to generate, as in `[workload]`. Without it, the stream replays a trace given on the
    /// command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<generate::Config>,
    /// Trace disk of a `by-disk` array to which the stream's addresses refer. Without it, a load
    /// covers the whole array, and a trace uses the disks that it names.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<u32>,
    /// Rule by which the requests of the stream's trace are issued, as in `[replay]`. By default,
    /// `[replay]` applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl Stream {
    /// Returns a stream of this name that replays a trace.
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

/// Replaces the index in the key path of an element by its name: `streams[1].class` becomes
/// `streams.log.class`. `name` returns the name for the path of an array of tables, such as
/// `streams`, and an index. A path outside any such array is returned unchanged.
pub(super) fn by_name<'a>(
    path: &str,
    mut name: impl FnMut(&str, usize) -> Option<&'a str>,
) -> String {
    let (mut named, mut rest) = (String::new(), path);
    while let Some((tables, behind)) = rest.split_once('[') {
        let before = &path[..path.len() - behind.len() - 1];
        let element = behind
            .split_once(']')
            .and_then(|(place, behind)| Some((name(before, place.parse().ok()?)?, behind)));
        let Some((name, behind)) = element else { break };
        named += tables;
        named.push('.');
        named += name;
        rest = behind;
    }
    named + rest
}

/// Returns a key path without the indices of elements, such as `streams.class`.
pub(super) fn without_places(path: &str) -> String {
    let mut inside = false;
    path.chars()
        .filter(|&c| {
            inside |= c == '[';
            let kept = !inside;
            inside &= c != ']';
            kept
        })
        .collect()
}
