//! Blocks, and their wear.

use super::{Column, of_member};
use crate::outcome::Outcome;
use std::iter::repeat_n;
use wordline_ftl::allocate::Dimensions;
use wordline_nand::{Layout, Plane};
use wordline_observe::{Heading, ObserveError, Table};

/// Erases of runs of blocks: every block of its own while there are no more than 2^20 blocks,
/// else runs of equal length.
pub fn blocks(outcome: &Outcome) -> Result<Table, ObserveError> {
    let all: usize = outcome
        .devices
        .iter()
        .map(|device| device.erases.len())
        .sum();
    let run = all.div_ceil(MAX_BLOCK_ROWS).max(1);
    let rows = || {
        let layouts = outcome.plan.ssds().map(|plan| plan.device.part.layout);
        layouts.map(|layout| rows_of_blocks(&layout, run))
    };
    let mut runs = BlockRuns::of_rows(rows().sum());
    for (plan, device) in outcome.plan.ssds().zip(&outcome.devices) {
        runs.add_device(
            &plan.device.part.layout,
            plan.dimensions,
            &device.erases,
            run,
        );
    }
    let [channel, way, die, plane] = runs.place;
    let mut columns: Vec<Column> = vec![
        (Heading::new("channel", "", "Channel"), channel.into()),
        (
            Heading::new("way", "", "Package on the channel"),
            way.into(),
        ),
        (Heading::new("die", "", "Die in the package"), die.into()),
        (Heading::new("plane", "", "Plane in the die"), plane.into()),
        (
            Heading::new("block", "", "First block, in the plane"),
            runs.first.into(),
        ),
        (
            Heading::new(
                "blocks",
                "",
                "Blocks from there on that this row stands for",
            ),
            runs.blocks.into(),
        ),
        (
            Heading::new("erases_min", "", "Fewest erases of one of them"),
            runs.least.into(),
        ),
        (
            Heading::new("erases", "", "Mean erases of these blocks"),
            runs.mean.into(),
        ),
        (
            Heading::new("erases_max", "", "Most erases of one of them"),
            runs.most.into(),
        ),
    ];
    if outcome.plan.has_members() {
        let members = outcome.plan.flash().into_iter();
        let members = members.map(|(member, _)| member).zip(rows());
        let of_rows = |(member, rows)| repeat_n(member, rows);
        columns.insert(0, of_member(members.flat_map(of_rows)));
    }
    Table::new(columns)
}

/// Runs of `run` blocks of a device, none of two planes.
fn rows_of_blocks(layout: &Layout, run: usize) -> usize {
    layout.planes() as usize * (layout.blocks_per_plane as usize).div_ceil(run)
}

/// How many blocks were erased how often: a row for each number of erases from the fewest to the
/// most, or for runs of equal length of them if they are more than 1024.
pub fn wear(outcome: &Outcome) -> Result<Table, ObserveError> {
    let erases = || outcome.devices.iter().flat_map(|device| &device.erases);
    let least = erases().copied().min().unwrap_or(0);
    let most = erases().copied().max().unwrap_or(0);
    let run = (most - least) / MAX_WEAR_ROWS + 1;
    let mut blocks = vec![0_u64; ((most - least) / run + 1) as usize];
    for &one in erases() {
        blocks[((one - least) / run) as usize] += 1;
    }
    let firsts = (0..blocks.len() as u32).map(|row| least + row * run);
    let lasts = firsts
        .clone()
        .map(|first| most.min(first.saturating_add(run - 1)));
    Table::new(vec![
        (
            Heading::new("erases_min", "", "Fewest erases of these blocks"),
            firsts.collect::<Vec<u32>>().into(),
        ),
        (
            Heading::new(
                "erases_max",
                "",
                "Most erases of these blocks; the same unless rows stand for several",
            ),
            lasts.collect::<Vec<u32>>().into(),
        ),
        (
            Heading::new("blocks", "", "Blocks with so many erases"),
            blocks.into(),
        ),
    ])
}

/// Rows of the table of wear at most.
const MAX_WEAR_ROWS: u32 = 1024;

/// Runs of neighbouring blocks of a plane, a row each.
struct BlockRuns {
    /// Channel, way, die and plane.
    place: [Vec<u32>; 4],
    first: Vec<u32>,
    blocks: Vec<u32>,
    /// Erases of one of them.
    least: Vec<u32>,
    most: Vec<u32>,
    mean: Vec<f64>,
}

impl BlockRuns {
    /// None, with room for `rows`.
    fn of_rows(rows: usize) -> Self {
        let column = || Vec::with_capacity(rows);
        Self {
            place: [column(), column(), column(), column()],
            first: column(),
            blocks: column(),
            least: column(),
            most: column(),
            mean: Vec::with_capacity(rows),
        }
    }
    /// Adds the blocks of a device that is wired like `of`, by their erases, in runs of `length`.
    fn add_device(&mut self, layout: &Layout, of: Dimensions, erases: &[u32], length: usize) {
        let mut of_plane = Vec::new();
        for plane in (0..layout.planes()).map(Plane) {
            let blocks = (0..layout.blocks_per_plane).map(|block| layout.block(plane, block));
            of_plane.clear();
            of_plane.extend(blocks.map(|block| erases[block.index()]));
            self.add(of, plane, &of_plane, length);
        }
    }
    /// Adds the blocks of a plane of a device that is wired like `of`, by their erases, in runs of
    /// `length`.
    fn add(&mut self, of: Dimensions, plane: Plane, erases: &[u32], length: usize) {
        let runs = erases.chunks(length);
        let die = plane.0 / of.planes;
        let way = die / of.dies;
        let place = [
            way / of.ways,
            way % of.ways,
            die % of.dies,
            plane.0 % of.planes,
        ];
        for (column, part) in self.place.iter_mut().zip(place) {
            column.extend(repeat_n(part, runs.len()));
        }
        self.first.extend((0..erases.len() as u32).step_by(length));
        self.blocks.extend(runs.clone().map(|run| run.len() as u32));
        let least = |run: &[u32]| run.iter().copied().min().unwrap_or_default();
        self.least.extend(runs.clone().map(least));
        let most = |run: &[u32]| run.iter().copied().max().unwrap_or_default();
        self.most.extend(runs.clone().map(most));
        let sum = |run: &[u32]| run.iter().copied().map(u64::from).sum::<u64>() as f64;
        self.mean
            .extend(runs.map(|run| sum(run) / run.len() as f64));
    }
}

/// Rows of the table of blocks at most, about.
const MAX_BLOCK_ROWS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_erases_of_the_blocks_that_it_names() {
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
            let rows = rows_of_blocks(&layout, length);
            let mut runs = BlockRuns::of_rows(rows);
            runs.add_device(&layout, of, &erases, length);
            assert_eq!(runs.first.len(), rows);
            for row in 0..rows {
                let [channel, way, die, plane] = [0, 1, 2, 3].map(|part| runs.place[part][row]);
                let plane = Plane(((channel * of.ways + way) * of.dies + die) * of.planes + plane);
                let first = runs.first[row];
                let blocks =
                    (first..first + runs.blocks[row]).map(|block| layout.block(plane, block));
                let here: Vec<u32> = blocks.map(|block| erases[block.index()]).collect();
                assert_eq!(here.iter().min(), Some(&runs.least[row]));
                assert_eq!(here.iter().max(), Some(&runs.most[row]));
                let mean = f64::from(here.iter().sum::<u32>()) / here.len() as f64;
                assert_eq!(mean, runs.mean[row]);
            }
            let blocks: u32 = runs.blocks.iter().sum();
            assert_eq!(blocks, layout.blocks());
        }
    }
}
