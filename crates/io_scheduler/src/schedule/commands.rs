//! Multi-plane commands that waiting reads can form, maintained as reads come and go.

use serde::{Deserialize, Serialize};
use wordline_nand::{Die, Layout};

/// Properties that all operations of a multi-plane command share: the kind of operation, and the
/// offset that the plane rule compares, which is that of the page in its block or in its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Class(pub(super) u64);

impl Class {
    /// Returns a hash of the class. Each of its bits depends on all bits of the class.
    #[inline]
    pub(super) const fn hash(self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    }
}

/// Commands of waiting reads: one for each die and each page offset in a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Commands {
    planes_per_die: usize,
    pages_per_block: usize,
    /// Reads on each plane, by command. Count.
    reads: Vec<u32>,
    /// Planes with a read, by command. Count.
    widths: Vec<u8>,
    /// Numbers of commands of each die that cover at least 0, 1, ... planes; 0 is not counted.
    by_width: Vec<u32>,
}

impl Commands {
    /// Creates the commands of an empty queue.
    pub(super) fn new(layout: &Layout) -> Self {
        let (dies, planes_per_die) = (layout.dies as usize, layout.planes_per_die as usize);
        let pages_per_block = layout.pages_per_block as usize;
        let commands = dies * pages_per_block;
        Self {
            planes_per_die,
            pages_per_block,
            reads: vec![0; commands * planes_per_die],
            widths: vec![0; commands],
            by_width: vec![0; dies * (planes_per_die + 1)],
        }
    }
    /// Returns the command of a read.
    #[inline]
    fn place(&self, die: Die, class: Class) -> usize {
        die.index() * self.pages_per_block + class.0 as usize
    }
    /// Adds a read.
    #[inline]
    pub(super) fn enter(&mut self, die: Die, class: Class, plane: u32) {
        let command = self.place(die, class);
        let reads = &mut self.reads[command * self.planes_per_die + plane as usize];
        *reads += 1;
        if *reads == 1 {
            self.widths[command] += 1;
            *self.of_width(die, self.widths[command]) += 1;
        }
    }
    /// Removes a read.
    #[inline]
    pub(super) fn leave(&mut self, die: Die, class: Class, plane: u32) {
        let command = self.place(die, class);
        let reads = &mut self.reads[command * self.planes_per_die + plane as usize];
        *reads -= 1;
        if *reads == 0 {
            *self.of_width(die, self.widths[command]) -= 1;
            self.widths[command] -= 1;
        }
    }
    /// Returns the number of planes that the command of a read covers.
    #[inline]
    pub(super) fn width(&self, die: Die, class: Class) -> u32 {
        self.widths[self.place(die, class)].into()
    }
    /// Returns the largest number of planes that a command of a die covers.
    #[inline]
    pub(super) fn widest(&self, die: Die) -> u32 {
        let first = die.index() * (self.planes_per_die + 1);
        let widths = &self.by_width[first..=first + self.planes_per_die];
        let widest = widths.iter().rposition(|commands| *commands > 0);
        widest.unwrap_or_default() as u32
    }
    /// Returns the number of commands of a die that cover at least this number of planes.
    #[inline]
    fn of_width(&mut self, die: Die, width: u8) -> &mut u32 {
        &mut self.by_width[die.index() * (self.planes_per_die + 1) + usize::from(width)]
    }
}
