//! Random transactions that the rules of the array allow.

use wordline_kernel::Rng;

use super::chain::{Mode, Transaction};
use super::{Cells, Part, Place};

/// Number of attempts to plan a transaction of a kind.
const DRAWS: usize = 12;

/// Returns a random number below `bound`.
pub fn below(random: &mut Rng, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// Returns `true` with probability 1 / `n`.
pub fn one_in(random: &mut Rng, n: usize) -> bool {
    below(random, n) == 0
}

/// Plans transactions for a die with the array state `cells`, and applies them to it.
pub struct Planner<'a> {
    /// Part of the die.
    pub part: &'a Part,
    /// Array state after the planned transactions.
    pub cells: Cells,
    /// Maximum rows of a cached transaction.
    pub most_rows: usize,
}

impl Planner<'_> {
    /// Plans a transaction in a mode. Returns `None` if no valid one was found.
    pub fn plan(&mut self, random: &mut Rng, mode: Mode) -> Option<Transaction> {
        (0..DRAWS).find_map(|_| {
            let planes = self.planes(random, mode);
            if mode.reads() {
                self.read(random, mode, &planes)
            } else if mode.programs() {
                self.program(random, mode, &planes)
            } else if mode.erases() {
                self.erase(random, mode, &planes)
            } else {
                self.move_pages(random, mode, &planes)
            }
        })
    }
    /// Returns the planes of a command, in random order.
    fn planes(&self, random: &mut Rng, mode: Mode) -> Vec<usize> {
        let mut planes: Vec<_> = (0..self.part.planes).collect();
        for n in (1..planes.len()).rev() {
            planes.swap(n, below(random, n + 1));
        }
        let count = if mode.multi_plane() {
            2 + below(random, planes.len() - 1)
        } else {
            1
        };
        planes.truncate(count);
        planes
    }
    /// Returns a row: for each plane, page `page` of a block for which `passes` holds. The block
    /// offset is the same in each plane if the part requires it.
    fn row(
        &self,
        random: &mut Rng,
        planes: &[usize],
        page: usize,
        passes: impl Fn(&Cells, Place) -> bool,
    ) -> Option<Vec<Place>> {
        let shared = below(random, self.part.blocks);
        let mut row = Vec::new();
        for &plane in planes {
            let start = below(random, self.part.blocks);
            let all = 0..self.part.blocks;
            let mut blocks = all.map(|n| (start + n) % self.part.blocks);
            let block = blocks.find(|&block| {
                let usable = !self.part.same_block || block == shared;
                usable && passes(&self.cells, Place { plane, block, page })
            })?;
            row.push(Place { plane, block, page });
        }
        Some(row)
    }
    fn readable(&self, random: &mut Rng, planes: &[usize]) -> Option<Vec<Place>> {
        let page = below(random, self.part.pages);
        self.row(random, planes, page, |cells, place| {
            cells.may_read(place).is_ok()
        })
    }
    fn programmable(&self, random: &mut Rng, planes: &[usize]) -> Option<Vec<Place>> {
        let page = if one_in(random, 4) {
            below(random, self.part.pages)
        } else {
            let block = below(random, self.part.blocks);
            self.cells.programmed(planes[0], block)
        };
        if page == self.part.pages {
            return None;
        }
        self.row(random, planes, page, |cells, place| {
            cells.may_program(place).is_ok()
        })
    }
    fn rows(&self, random: &mut Rng, mode: Mode) -> usize {
        if mode.cached() {
            2 + below(random, self.most_rows - 1)
        } else {
            1
        }
    }
    fn read(&self, random: &mut Rng, mode: Mode, planes: &[usize]) -> Option<Transaction> {
        let mut rows = vec![self.readable(random, planes)?];
        while rows.len() < self.rows(random, mode) {
            let next = |place: &Place| Place {
                page: place.page + 1,
                ..*place
            };
            let next: Vec<_> = rows[rows.len() - 1].iter().map(next).collect();
            let readable =
                |place: &Place| place.page < self.part.pages && self.cells.may_read(*place).is_ok();
            if next.iter().all(readable) && !one_in(random, 4) {
                rows.push(next);
            } else {
                rows.push(self.readable(random, planes)?);
            }
        }
        let targets = Vec::new();
        Some(Transaction {
            mode,
            rows,
            targets,
        })
    }
    fn program(&mut self, random: &mut Rng, mode: Mode, planes: &[usize]) -> Option<Transaction> {
        let count = self.rows(random, mode);
        let before = self.cells.clone();
        let mut rows: Vec<Vec<Place>> = Vec::new();
        for _ in 0..count {
            let others = self.planes(random, mode);
            let change = others.len() == planes.len() && one_in(random, 3);
            let planes = if change { &others } else { planes };
            let Some(row) = self.programmable(random, planes) else {
                self.cells = before;
                return None;
            };
            for place in &row {
                self.cells.program(*place);
            }
            rows.push(row);
        }
        let targets = Vec::new();
        Some(Transaction {
            mode,
            rows,
            targets,
        })
    }
    fn erase(&mut self, random: &mut Rng, mode: Mode, planes: &[usize]) -> Option<Transaction> {
        let row = self.row(random, planes, 0, |cells, place| {
            cells.may_erase(place).is_ok()
        })?;
        for place in &row {
            self.cells.erase(*place);
        }
        let targets = Vec::new();
        Some(Transaction {
            mode,
            rows: vec![row],
            targets,
        })
    }
    fn move_pages(
        &mut self,
        random: &mut Rng,
        mode: Mode,
        planes: &[usize],
    ) -> Option<Transaction> {
        let row = self.readable(random, planes)?;
        let targets = self.programmable(random, planes)?;
        for place in &targets {
            self.cells.program(*place);
        }
        Some(Transaction {
            mode,
            rows: vec![row],
            targets,
        })
    }
    /// Plans an erase of one block or, in a multi-plane mode, of blocks in several planes.
    pub fn make_room(&mut self, random: &mut Rng, mode: Mode) -> Option<Transaction> {
        let kind = if mode.multi_plane() {
            Mode::MultiPlaneErase
        } else {
            Mode::Erase
        };
        self.plan(random, kind)
    }
}
