//! Tables of blocks and of their wear.

use super::{Column, of_member};
use crate::outcome::Outcome;
use crate::summary::mean;
use wordline_ftl::allocate::Dimensions;
use wordline_nand::{Layout, Plane};
use wordline_observe::{ObserveError, Table, columns};

/// Builds the table of erases per block: one row per block up to 2^20 blocks, otherwise one row per
/// run of neighbouring blocks.
pub fn blocks(outcome: &Outcome) -> Result<Table, ObserveError> {
    let erases = outcome.devices.iter().map(|device| device.erases.len());
    let length = erases.sum::<usize>().div_ceil(MAX_BLOCK_ROWS).max(1);
    let mut rows = Vec::new();
    for ((member, plan), device) in outcome.plan.flash().into_iter().zip(&outcome.devices) {
        let device = BlockRuns {
            member,
            layout: &plan.device.part.layout,
            wiring: plan.dimensions,
            erases: &device.erases,
            length,
        };
        device.push(&mut rows);
    }
    let mut columns = block_columns(&rows);
    if outcome.plan.has_members() {
        columns.insert(0, of_member(rows.iter().map(|run| run.member)));
    }
    Table::new(columns)
}

fn block_columns(rows: &[BlockRun]) -> Vec<Column> {
    columns! { rows;
        channel, "", "Channel", |run| run.place[0];
        way, "", "Package on the channel", |run| run.place[1];
        die, "", "Die in the package", |run| run.place[2];
        plane, "", "Plane in the die", |run| run.place[3];
        block, "", "First block of the row, numbered in its plane", |run| run.first;
        blocks, "", "Consecutive blocks that this row covers", |run| run.blocks;
        erases_min, "", "Fewest erases of any of these blocks", |run| run.least;
        erases, "", "Mean erases of these blocks", |run| run.mean;
        erases_max, "", "Most erases of any of these blocks", |run| run.most;
    }
}

/// Builds the histogram of erases per block, with one row per number of erases from the fewest to
/// the most. If there would be more than 1024 rows, each row covers a range of equal width.
pub fn wear(outcome: &Outcome) -> Result<Table, ObserveError> {
    let erases = || outcome.devices.iter().flat_map(|device| &device.erases);
    let least = erases().copied().min().unwrap_or(0);
    let most = erases().copied().max().unwrap_or(0);
    let run = (most - least) / MAX_WEAR_ROWS + 1;
    let mut blocks = vec![0_u64; ((most - least) / run + 1) as usize];
    for &one in erases() {
        blocks[((one - least) / run) as usize] += 1;
    }
    let rows: Vec<(u32, u64)> = (0..)
        .zip(blocks)
        .map(|(row, blocks)| (least + row * run, blocks))
        .collect();
    Table::new(columns! { &rows;
        erases_min, "", "Fewest erases of these blocks", |row| row.0;
        erases_max, "", "Most erases of these blocks; equal to erases_min unless a row covers a range",
            |row| most.min(row.0.saturating_add(run - 1));
        blocks, "", "Blocks with this number of erases", |row| row.1;
    })
}

/// Maximum number of rows in the wear table.
const MAX_WEAR_ROWS: u32 = 1024;

/// Run of neighbouring blocks of a plane.
struct BlockRun {
    member: u32,
    /// Channel, way, die and plane.
    place: [u32; 4],
    first: u32,
    blocks: u32,
    /// Fewest erases of any of the blocks.
    least: u32,
    most: u32,
    mean: f64,
}

/// Blocks of a device, in runs of `length` that do not cross planes.
struct BlockRuns<'a> {
    member: u32,
    layout: &'a Layout,
    wiring: Dimensions,
    erases: &'a [u32],
    length: usize,
}

impl BlockRuns<'_> {
    /// Returns the number of runs of blocks.
    fn count(&self) -> usize {
        let of_plane = (self.layout.blocks_per_plane as usize).div_ceil(self.length);
        self.layout.planes() as usize * of_plane
    }
    /// Appends a row for each run of blocks.
    fn push(&self, rows: &mut Vec<BlockRun>) {
        rows.reserve(self.count());
        let mut of_plane = Vec::new();
        for plane in (0..self.layout.planes()).map(Plane) {
            let blocks = 0..self.layout.blocks_per_plane;
            let blocks = blocks.map(|block| self.layout.block(plane, block));
            of_plane.clear();
            of_plane.extend(blocks.map(|block| self.erases[block.index()]));
            let place = self.place(plane);
            let firsts = (0..).step_by(self.length);
            let runs = firsts.zip(of_plane.chunks(self.length));
            rows.extend(runs.map(|(first, erases)| BlockRun {
                member: self.member,
                place,
                first,
                blocks: erases.len() as u32,
                least: erases.iter().copied().min().unwrap_or_default(),
                most: erases.iter().copied().max().unwrap_or_default(),
                mean: mean(erases.iter().copied()),
            }));
        }
    }
    /// Returns the numbers of the channel, way, die and plane of a plane.
    fn place(&self, plane: Plane) -> [u32; 4] {
        let of = self.wiring;
        let die = plane.0 / of.planes;
        let way = die / of.dies;
        [
            way / of.ways,
            way % of.ways,
            die % of.dies,
            plane.0 % of.planes,
        ]
    }
}

/// Approximate maximum number of rows in the table of blocks.
const MAX_BLOCK_ROWS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_has_the_erases_of_the_blocks_that_it_names() {
        let of = Dimensions {
            channels: 2,
            ways: 2,
            dies: 2,
            planes: 3,
        };
        let layout = Layout {
            dies: 8,
            planes_per_die: 3,
            blocks_per_plane: 5,
            pages_per_block: 4,
        };
        let erases: Vec<u32> = (0..layout.blocks()).map(|block| block * 7 % 31).collect();
        for length in [1, 2, 5, 9] {
            let device = BlockRuns {
                member: 0,
                layout: &layout,
                wiring: of,
                erases: &erases,
                length,
            };
            let mut rows = Vec::new();
            device.push(&mut rows);
            assert_eq!(rows.len(), device.count());
            for run in &rows {
                let [channel, way, die, plane] = run.place;
                let plane = Plane(((channel * of.ways + way) * of.dies + die) * of.planes + plane);
                let blocks =
                    (run.first..run.first + run.blocks).map(|block| layout.block(plane, block));
                let here: Vec<u32> = blocks.map(|block| erases[block.index()]).collect();
                assert_eq!(here.iter().min(), Some(&run.least));
                assert_eq!(here.iter().max(), Some(&run.most));
                let mean = f64::from(here.iter().sum::<u32>()) / here.len() as f64;
                assert_eq!(mean, run.mean);
            }
            let blocks: u32 = rows.iter().map(|run| run.blocks).sum();
            assert_eq!(blocks, layout.blocks());
        }
    }
}
