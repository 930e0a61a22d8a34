//! Block migration (Jung 2013, section 2.8.3).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::package::Package;
use wordline_nand::{Die, Layout, Operation, Plane, Ppn, Transaction};

use super::report::{Report, Sums};
use super::{PackageError, PackageSim, within};

/// Destination blocks are erased, the pages of the source blocks are copied there, the source blocks
/// are erased. Blocks are spread over planes first, then over dies; each goes to a block of its own
/// plane. The work of a die is done in order: where data leave the package, a block is read whole
/// and then written whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Migrate {
    /// Source blocks, full.
    pub blocks: u32,
    /// How pages get from one to the other.
    pub mode: MigrateMode,
    /// Whether the dies work at the same time.
    pub interleaved: bool,
}

/// The way of a migration. The multi-plane ones handle a block of every plane of a die at once,
/// erases included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MigrateMode {
    /// Page reads, page programs.
    Legacy,
    /// A block is one cache read and one cache program.
    Cache,
    /// Internal data moves; the part has to be able to (`nand.internal_data_move`).
    Move,
    /// Page reads and programs in all planes at once.
    MultiPlane,
    /// One cache read and one cache program in all planes at once.
    MultiPlaneCache,
    /// Internal data moves in all planes at once; the part has to be able to.
    MultiPlaneMove,
}

impl MigrateMode {
    /// Its name in a load.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Cache => "cache",
            Self::Move => "move",
            Self::MultiPlane => "multi-plane",
            Self::MultiPlaneCache => "multi-plane-cache",
            Self::MultiPlaneMove => "multi-plane-move",
        }
    }
    const fn several(self) -> bool {
        matches!(
            self,
            Self::MultiPlane | Self::MultiPlaneCache | Self::MultiPlaneMove
        )
    }
    const fn moves(self) -> bool {
        matches!(self, Self::Move | Self::MultiPlaneMove)
    }
    const fn cached(self) -> bool {
        matches!(self, Self::Cache | Self::MultiPlaneCache)
    }
}

impl fmt::Display for MigrateMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Blocks that are moved together: planes of one die, and the place of their blocks in them.
struct Group {
    die: Die,
    planes: Vec<Plane>,
    from: u32,
    to: u32,
}

impl Group {
    fn row(&self, layout: &Layout, block: u32, page: u32) -> impl Iterator<Item = Ppn> {
        let planes = self.planes.iter();
        planes.map(move |&plane| layout.page(layout.block(plane, block), page))
    }
    /// The pages of a block in each plane, row by row.
    fn pages(&self, layout: &Layout, block: u32) -> Vec<Ppn> {
        let rows = 0..layout.pages_per_block;
        rows.flat_map(|page| self.row(layout, block, page))
            .collect()
    }
}

/// A package at work.
struct Run {
    package: Package,
    /// By transaction: its die and its pages.
    submitted: Vec<(Die, usize)>,
}

pub(super) fn run(bench: &PackageSim, migrate: &Migrate) -> Result<Report, PackageError> {
    let (layout, mode) = (bench.part.layout, migrate.mode);
    if mode.moves() && !bench.internal_data_move {
        return Err(PackageError::NoMove { mode });
    }
    within(
        "blocks",
        migrate.blocks.into(),
        1,
        u64::from(layout.blocks()) / 2,
    )?;
    let groups = groups(&layout, migrate);
    let mut package = bench.package(migrate.interleaved);
    for page in groups
        .iter()
        .flat_map(|group| group.pages(&layout, group.from))
    {
        package.array_mut().program(page)?;
    }
    let mut run = Run {
        package,
        submitted: Vec::new(),
    };
    for group in &groups {
        run.erase(&layout, group, group.to)?;
    }
    for group in &groups {
        run.copy(&layout, group, mode)?;
    }
    for group in &groups {
        run.erase(&layout, group, group.from)?;
    }
    let sums = run.finish(layout.dies)?;
    let pages = u64::from(migrate.blocks) * u64::from(layout.pages_per_block);
    let bytes = pages * u64::from(bench.page_bytes);
    Ok(sums.report(
        bench,
        &run.package,
        migrate.blocks.into(),
        bytes,
        Duration::ZERO,
    ))
}

fn groups(layout: &Layout, migrate: &Migrate) -> Vec<Group> {
    let rows = migrate.blocks.div_ceil(layout.planes());
    let width = if migrate.mode.several() {
        layout.planes_per_die as usize
    } else {
        1
    };
    let mut groups = Vec::new();
    for row in 0..rows {
        let first = row * layout.planes();
        let count = (migrate.blocks - first).min(layout.planes());
        let planes: Vec<Plane> = (0..count).map(Plane).collect();
        for die in planes.chunks(layout.planes_per_die as usize) {
            groups.extend(die.chunks(width).map(|planes| Group {
                die: layout.die_of(planes[0]),
                planes: planes.to_vec(),
                from: row,
                to: rows + row,
            }));
        }
    }
    groups
}

impl Run {
    fn submit(
        &mut self,
        group: &Group,
        operation: Operation,
        pages: &[Ppn],
        targets: &[Ppn],
    ) -> Result<(), PackageError> {
        let planes = group.planes.len() as u32;
        let transaction = Transaction {
            operation,
            pages,
            targets,
            planes,
        };
        self.package.submit(Time::ZERO, &transaction)?;
        self.submitted.push((group.die, pages.len()));
        Ok(())
    }

    fn erase(&mut self, layout: &Layout, group: &Group, block: u32) -> Result<(), PackageError> {
        let pages: Vec<Ppn> = group.row(layout, block, 0).collect();
        self.submit(group, Operation::Erase, &pages, &[])
    }

    fn copy(
        &mut self,
        layout: &Layout,
        group: &Group,
        mode: MigrateMode,
    ) -> Result<(), PackageError> {
        let (from, to) = (
            group.pages(layout, group.from),
            group.pages(layout, group.to),
        );
        let length = if mode.cached() {
            from.len()
        } else {
            group.planes.len()
        };
        if mode.moves() {
            let mut rows = from.chunks(length).zip(to.chunks(length));
            return rows.try_for_each(|(from, to)| self.submit(group, Operation::Move, from, to));
        }
        for (operation, pages) in [(Operation::Read, &from), (Operation::Program, &to)] {
            for row in pages.chunks(length) {
                self.submit(group, operation, row, &[])?;
            }
        }
        Ok(())
    }

    /// A request is a transaction here.
    fn finish(&mut self, dies: u32) -> Result<Sums, PackageError> {
        let mut sums = Sums::new(dies);
        while let Some(completion) = self.package.next_completion() {
            let (die, pages) = self.submitted[completion.number as usize];
            sums.transaction(die, pages, &completion);
            sums.request(completion.completed - completion.started);
            completion.result?;
        }
        Ok(sums)
    }
}
