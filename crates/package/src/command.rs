//! Pages that wait for a package, and their selection into commands.

use std::collections::VecDeque;

use wordline_nand::{Die, Layout, PlaneRule, Ppn};

/// Waiting page, with the request that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub page: Ppn,
    pub request: u32,
}

/// Limits of the commands that a package accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub layout: Layout,
    pub rule: PlaneRule,
    /// Maximum planes per row. Count.
    pub planes: u32,
    /// Maximum rows per command. Count.
    pub rows: u32,
    /// Whether all rows use the planes of the first. A cache read requires this; a cache program
    /// does not.
    pub same_planes: bool,
}

impl Bounds {
    fn die(&self, page: Ppn) -> Die {
        self.layout.die_of_page(page)
    }
    fn plane(&self, page: Ppn) -> u32 {
        self.layout.plane_of(self.layout.block_of(page)).0
    }
    fn offsets(&self, page: Ppn) -> (u32, u32) {
        let block = self.layout.block_of(page);
        (
            self.layout.block_in_plane(block),
            self.layout.page_in_block(page),
        )
    }

    /// Moves the pages of the next command from the queue `line` to `taken`, row by row. Returns
    /// the number of planes of a row. The oldest page comes first, with pages on other planes of
    /// its die that fit it. Further rows take the next oldest pages of that die while they have the
    /// same width. The pages of a plane leave the queue in order of arrival.
    pub fn take(&self, line: &mut VecDeque<Waiting>, taken: &mut Vec<Waiting>) -> u32 {
        taken.clear();
        if self.planes == 1 && self.rows == 1 {
            taken.extend(line.pop_front());
            return 1;
        }
        let places = self.choose(line);
        let width = places.first().map_or(1, Vec::len);
        let mut places: Vec<usize> = places.into_iter().flatten().collect();
        taken.extend(places.iter().map(|&place| line[place]));
        places.sort_unstable_by(|a, b| b.cmp(a));
        for place in places {
            line.remove(place);
        }
        width as u32
    }

    /// Returns the queue indices of the next command's pages, by row.
    fn choose(&self, line: &VecDeque<Waiting>) -> Vec<Vec<usize>> {
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut free: Vec<usize> = match line.front() {
            Some(first) => {
                let die = self.die(first.page);
                let here = |place: &usize| self.die(line[*place].page) == die;
                let most = (self.layout.planes_per_die * self.rows) as usize;
                (0..line.len()).filter(here).take(most).collect()
            }
            None => return rows,
        };
        while rows.len() < self.rows as usize {
            let wanted = rows.first().filter(|_| self.same_planes);
            let wanted: Option<Vec<u32>> =
                wanted.map(|row| row.iter().map(|&at| self.plane(line[at].page)).collect());
            let row = self.row(line, &free, wanted.as_deref());
            let width = rows.first().map(Vec::len);
            if row.is_empty() || width.is_some_and(|width| width != row.len()) {
                break;
            }
            free.retain(|place| !row.contains(place));
            rows.push(row);
        }
        rows
    }

    /// Returns the first pages of `free` that fit one row, on the planes `wanted` if given.
    fn row(&self, line: &VecDeque<Waiting>, free: &[usize], wanted: Option<&[u32]>) -> Vec<usize> {
        let mut row: Vec<usize> = Vec::new();
        let mut seen: Vec<u32> = Vec::new();
        for &place in free {
            let page = line[place].page;
            let plane = self.plane(page);
            if row.len() == self.planes as usize {
                break;
            }
            if seen.contains(&plane) || wanted.is_some_and(|wanted| !wanted.contains(&plane)) {
                continue;
            }
            // Even if this page does not fit, a later one of its plane must not overtake it.
            seen.push(plane);
            let beside = row.first().map(|&first| self.offsets(line[first].page));
            if beside.is_none_or(|beside| self.rule.allows(beside, self.offsets(page))) {
                row.push(place);
            }
        }
        row
    }
}
