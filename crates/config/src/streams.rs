//! The `[[streams]]` tables: what asks the device at the same time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_host_link::Class;
use wordline_workload::generate;

use super::Replay;

/// Most streams: a bound on memory, of which each takes up to a megabyte for its response times.
pub(super) const MOST: usize = 256;

/// A stream of requests, in order: a host, a process of it, or a queue of one. Streams know nothing of
/// each other and meet in the device. Their addresses overlap unless their working sets or traces are
/// apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stream {
    /// Its name, of which there is one only: up to 64 letters, digits, `-` and `_`.
    pub name: String,
    /// How urgent its commands are, where `host.interface` tells streams apart.
    pub class: Class,
    /// Load to generate, as in `[workload]`; without it, the stream takes a trace from the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<generate::Config>,
    /// Disk of an array by disk whose addresses are its own; without it, a load is spread over the whole array, and a trace goes by the disks that it names.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<u32>,
    /// When the requests of its trace are issued, as in `[replay]`, which counts where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl Stream {
    /// A stream of this name that takes a trace.
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

/// The key path of an element, `streams[1].class`, with its name for its place: `streams.log.class`.
/// `name` knows the names in an array of tables, at a path such as `streams`, by place; a path in none is returned as it is.
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

/// A key path without the places of elements: `streams.class`.
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
