//! Block migration (Jung 2013, section 2.8.3).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::package::Package;
use wordline_nand::{Die, Layout, Operation, Plane, Ppn, Transaction};

use super::report::{Report, Sums};
use super::{PackageError, PackageSim, within};

/// Erases the destination blocks, copies the pages of the source blocks there, and erases the
/// source blocks. Blocks are spread over planes first, then over dies; each is copied to a block of
/// its own plane. Each die works in order. If data leaves the package, each block is read
/// completely before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Migrate {
    /// Source blocks, which are full. Count.
    pub blocks: u32,
    /// Method of copying the pages.
    pub mode: MigrateMode,
    /// Whether the dies work at the same time. Otherwise they work one after another.
    pub interleaved: bool,
}

/// Method of a migration. Multi-plane modes handle up to one block per plane of a die at once,
/// including erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MigrateMode {
    /// Page reads and page programs.
    Legacy,
    /// One cache read and one cache program per block.
    Cache,
    /// Internal data moves; the part must support them (`nand.internal_data_move`).
    Move,
    /// Page reads and programs on all planes at once.
    MultiPlane,
    /// One cache read and one cache program on all planes at once.
    MultiPlaneCache,
    /// Internal data moves on all planes at once; the part must support them.
    MultiPlaneMove,
}

impl MigrateMode {
    /// Returns the name of the mode in a load.
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

/// Blocks that are moved together: planes of one die, and the index of the source and destination
/// block within them.
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
    /// Returns the pages of a block in each plane, row by row.
    fn pages(&self, layout: &Layout, block: u32) -> Vec<Ppn> {
        let rows = 0..layout.pages_per_block;
        rows.flat_map(|page| self.row(layout, block, page))
            .collect()
    }
}

/// A migration in progress.
struct Run {
    package: Package,
    /// Die and number of pages of each transaction.
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

    /// Completes all transactions. The latency of each counts as that of a request.
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
