//! Metadata contexts. The only one is `base:allocation`, which states the ranges that hold data.

use super::counted;

/// Number of `base:allocation` in block status replies.
pub(super) const ALLOCATION: u32 = 1;
/// Name of the context.
pub(super) const NAME: &[u8] = b"base:allocation";
const NAMESPACE: &[u8] = b"base:";

/// Data of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`.
#[derive(Debug)]
pub(super) struct Contexts<'a> {
    /// Name of the export.
    pub(super) export: &'a [u8],
    queries: Vec<&'a [u8]>,
}

impl<'a> Contexts<'a> {
    /// Decodes the data of the option. Returns `None` if a length is wrong.
    pub(super) fn decode(data: &'a [u8]) -> Option<Self> {
        let (export, rest) = counted(data)?;
        let (count, mut rest) = rest.split_first_chunk()?;
        let mut queries = Vec::new();
        for _ in 0..u32::from_be_bytes(*count) {
            let (query, after) = counted(rest)?;
            queries.push(query);
            rest = after;
        }
        rest.is_empty().then_some(Self { export, queries })
    }
    /// Returns `true` if a client that lists contexts asks for `base:allocation`.
    pub(super) fn lists(&self) -> bool {
        self.queries.is_empty() || self.queries.contains(&NAMESPACE) || self.selects()
    }
    /// Returns `true` if a client that selects contexts asks for `base:allocation`.
    pub(super) fn selects(&self) -> bool {
        self.queries.contains(&NAME)
    }
}
