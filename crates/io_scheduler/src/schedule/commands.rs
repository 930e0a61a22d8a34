//! Multi-plane commands that waiting reads can form, maintained as reads come and go.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_nand::Die;

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
    /// Returns the key of the command for reads of this class on a die.
    #[inline]
    pub(super) const fn of_die(self, die: Die) -> u64 {
        (die.0 as u64) << 32 | self.0
    }
}

/// Commands of waiting reads: one for each die and class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Commands {
    planes: usize,
    /// Index of each command, by the key of its die and class.
    places: FxHashMap<u64, u32>,
    all: Vec<Command>,
    vacant: Vec<u32>,
    /// Reads of each command on each plane. Count.
    reads: Vec<u32>,
    /// Numbers of commands of each die that cover 0, 1, ... planes.
    by_width: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Command {
    key: u64,
    die: Die,
    /// Planes on which the command has a read. Count.
    width: u32,
}

impl Commands {
    /// Creates the commands of an empty queue.
    pub(super) fn new(dies: u32, planes_per_die: u32) -> Self {
        let planes = planes_per_die as usize;
        Self {
            planes,
            places: FxHashMap::default(),
            all: Vec::new(),
            vacant: Vec::new(),
            reads: Vec::new(),
            by_width: vec![0; dies as usize * (planes + 1)],
        }
    }
    /// Adds a read. Returns the index of its command.
    pub(super) fn enter(&mut self, die: Die, class: Class, plane: u32) -> u32 {
        let key = class.of_die(die);
        let found = self.places.get(&key).copied();
        let place = found.unwrap_or_else(|| self.begin(key, die));
        let reads = &mut self.reads[place as usize * self.planes + plane as usize];
        *reads += 1;
        if *reads == 1 {
            self.widen(place, |width| width + 1);
        }
        place
    }
    /// Removes a read from a command.
    pub(super) fn leave(&mut self, place: u32, plane: u32) {
        let reads = &mut self.reads[place as usize * self.planes + plane as usize];
        *reads -= 1;
        if *reads == 0 {
            self.widen(place, |width| width - 1);
            let command = &self.all[place as usize];
            if command.width == 0 {
                self.places.remove(&command.key);
                self.vacant.push(place);
                self.by_width[command.die.index() * (self.planes + 1)] -= 1;
            }
        }
    }
    /// Returns the number of planes that a command covers.
    #[inline]
    pub(super) fn width(&self, place: u32) -> u32 {
        self.all[place as usize].width
    }
    /// Returns the largest number of planes that a command of a die covers.
    pub(super) fn widest(&self, die: Die) -> u32 {
        let first = die.index() * (self.planes + 1);
        let widths = &self.by_width[first..=first + self.planes];
        let widest = widths.iter().rposition(|commands| *commands > 0);
        widest.unwrap_or_default() as u32
    }

    /// Adds a command without reads.
    fn begin(&mut self, key: u64, die: Die) -> u32 {
        let command = Command { key, die, width: 0 };
        let place = if let Some(place) = self.vacant.pop() {
            self.all[place as usize] = command;
            place
        } else {
            self.all.push(command);
            self.reads.resize(self.all.len() * self.planes, 0);
            self.all.len() as u32 - 1
        };
        self.places.insert(key, place);
        self.by_width[die.index() * (self.planes + 1)] += 1;
        place
    }

    /// Changes the number of planes that a command covers.
    fn widen(&mut self, place: u32, change: impl Fn(u32) -> u32) {
        let command = &mut self.all[place as usize];
        let first = command.die.index() * (self.planes + 1);
        self.by_width[first + command.width as usize] -= 1;
        command.width = change(command.width);
        self.by_width[first + command.width as usize] += 1;
    }
}
