//! State of the planes.

use serde::{Deserialize, Serialize};

use super::buffer::Buffer;
use super::merge::Merge;
use super::record::Record;

/// State of a plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlaneState {
    /// Number of free blocks, excluding those that the write buffer may still take.
    pub free: u32,
    pub merge: Option<Merge>,
    pub record: Record,
    pub buffer: Buffer,
}
