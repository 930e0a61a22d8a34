//! The `[cache]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;

use super::admission::Admission;

/// What becomes of a write, which goes to the store below in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// The cache forgets the pages (write-around).
    #[default]
    Around,
    /// Whole pages that the cache holds are written there, too; of others it forgets what it holds (write-through).
    Through,
}

/// When the host hears of a read that missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// When the store below has answered; the pages are programmed behind its back.
    #[default]
    Data,
    /// When the pages are programmed.
    Fill,
    /// When the pages are programmed and no block is being collected: the response time of Xia 2017, chapters 2 and 3.
    Collection,
}

/// Flash in front of another store (`[cache]`): a cache merged with the translation layer of its flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which page leaves.
    pub replacement: Replacement,
    /// Whether pages that left can be revived until their blocks are erased (FLRU, FARC).
    pub suspected_queue: bool,
    /// Whether a page that a collection drops is remembered as one that the policy has evicted, where the policy remembers any.
    pub ghosts_of_dropped: bool,
    /// Which pages that were missed are taken in.
    pub admission: Admission,
    /// Whether writes go `around` or `through` the cache.
    pub writes: Writes,
    /// When the host hears of a read that missed: with the `data`, after the `fill`, or after the `collection` that the fill has caused.
    pub reply: Reply,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            replacement: Replacement::default(),
            suspected_queue: false,
            ghosts_of_dropped: true,
            admission: Admission::default(),
            writes: Writes::default(),
            reply: Reply::default(),
        }
    }
}
