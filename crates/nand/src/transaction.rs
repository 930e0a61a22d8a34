//! Transactions of a package: operation, pages and mode.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Layout, PlaneRule, Ppn};

/// Operation of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// Page read.
    #[default]
    Read,
    /// Page program.
    Program,
    /// Block erase.
    Erase,
    /// Internal data move: a page is read into the data register and programmed from there, in the
    /// same plane (copyback; Jung 2013, section 2.3.2).
    Move,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 4] = [Self::Read, Self::Program, Self::Erase, Self::Move];

    /// Returns the name of the operation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::Move => "move",
        }
    }
}

/// Operation on one die, and the mode in which it is executed.
///
/// `pages` consists of rows of `planes` pages each. The pages of a row are in different planes and
/// are processed at the same time; more than one plane is multi-plane mode. Several rows in one
/// command are cache mode, which is available for reads and programs. An erase names any page of
/// each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction<'a> {
    /// Operation to perform.
    pub operation: Operation,
    /// Pages, row by row.
    pub pages: &'a [Ppn],
    /// Target of each page of a move; empty for other operations.
    pub targets: &'a [Ppn],
    /// Pages per row.
    pub planes: u32,
}

/// Error of a transaction that a part rejects regardless of the state of its array.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TransactionError {
    /// There are no pages, or they do not form complete rows.
    #[error(
        "{pages} pages cannot be divided into rows of {planes}; give each row one page for every plane"
    )]
    Rows {
        /// Pages given. Count.
        pages: usize,
        /// Pages per row. Count.
        planes: u32,
    },
    /// The part does not have the page.
    #[error("page {page} is out of range; the part has {pages} pages")]
    BeyondPart {
        /// Page number.
        page: u32,
        /// Pages of the part. Count.
        pages: u32,
    },
    /// The operation has no cache mode.
    #[error(
        "{operation} of {rows} rows: only reads and programs have a cache mode; submit the rows one by one"
    )]
    NoCacheMode {
        /// Name of the operation.
        operation: &'static str,
        /// Rows given. Count.
        rows: usize,
    },
    /// A move does not have one target per page, or another operation has targets.
    #[error(
        "{operation} of {pages} pages with {targets} targets; give a move one target per page, and other operations none"
    )]
    Targets {
        /// Name of the operation.
        operation: &'static str,
        /// Pages given. Count.
        pages: usize,
        /// Targets given. Count.
        targets: usize,
    },
    /// The pages are on different dies.
    #[error("{address} and {first} are on different dies; submit one transaction per die")]
    OtherDie {
        /// Address of the page, as text.
        address: String,
        /// Address of the first page, as text.
        first: String,
    },
    /// Two pages of a row are in the same plane.
    #[error(
        "{address} is in the same plane as {other}; the pages of a row must be in different planes"
    )]
    SamePlane {
        /// Address of the page, as text.
        address: String,
        /// Address of the earlier page, as text.
        other: String,
    },
    /// The offsets of a row violate the plane addressing rule.
    #[error("{address} and {other} violate the plane rule of a multi-plane command: {rule}")]
    PlaneRule {
        /// Address of the page, as text.
        address: String,
        /// Address of the first page of its row, as text.
        other: String,
        /// Plane addressing rule, as text.
        rule: &'static str,
    },
    /// The rows of a cache read use different planes.
    #[error(
        "{address}: the first row has no page in this plane; the rows of a cache read use the same planes"
    )]
    OtherPlanes {
        /// Address of the page, as text.
        address: String,
    },
    /// A move leaves its plane.
    #[error(
        "move of {from} to {to}: the data register belongs to one plane; read and program instead"
    )]
    OtherPlane {
        /// Address of the source, as text.
        from: String,
        /// Address of the target, as text.
        to: String,
    },
}

/// Mode of an operation. Each mode can also be die-interleaved, but that is a property of the
/// package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One page or block.
    #[default]
    Legacy,
    /// Several rows, through the cache register.
    Cache,
    /// Internal data move (copyback).
    Move,
    /// Several planes at once.
    MultiPlane,
    /// Several planes at once, and several rows through the cache registers.
    MultiPlaneCache,
    /// Internal data moves in several planes at once.
    MultiPlaneMove,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 6] = [
        Self::Legacy,
        Self::Cache,
        Self::Move,
        Self::MultiPlane,
        Self::MultiPlaneCache,
        Self::MultiPlaneMove,
    ];
    /// Returns the name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Cache => "cache",
            Self::Move => "internal data move",
            Self::MultiPlane => "multi-plane",
            Self::MultiPlaneCache => "multi-plane cache",
            Self::MultiPlaneMove => "multi-plane internal data move",
        }
    }
}

impl Transaction<'_> {
    /// Returns the mode in which the transaction is executed.
    #[inline]
    pub fn mode(&self) -> Mode {
        let several = self.planes > 1;
        match (self.operation, self.pages.len() > self.planes as usize) {
            (Operation::Move, _) if several => Mode::MultiPlaneMove,
            (Operation::Move, _) => Mode::Move,
            (_, true) if several => Mode::MultiPlaneCache,
            (_, true) => Mode::Cache,
            (_, false) if several => Mode::MultiPlane,
            (_, false) => Mode::Legacy,
        }
    }
    /// Returns the number of rows of the transaction.
    pub fn rows(&self) -> usize {
        self.pages.len() / self.planes.max(1) as usize
    }

    /// Returns an error if the shape or the addresses of the transaction are invalid on a part with
    /// this layout and plane addressing rule.
    pub fn check(&self, layout: &Layout, rule: PlaneRule) -> Result<(), TransactionError> {
        if let ([page], [], 1) = (self.pages, self.targets, self.planes)
            && self.operation != Operation::Move
            && page.0 < layout.pages()
        {
            return Ok(());
        }
        self.check_shape()?;
        for &page in self.pages.iter().chain(self.targets) {
            if page.0 >= layout.pages() {
                return Err(TransactionError::BeyondPart {
                    page: page.0,
                    pages: layout.pages(),
                });
            }
        }
        self.check_rows(layout, self.pages, rule)?;
        self.check_rows(layout, self.targets, rule)?;
        self.check_planes(layout)?;
        self.check_moves(layout)
    }

    /// Returns an error unless all rows of a cache read use the planes of its first row.
    fn check_planes(&self, layout: &Layout) -> Result<(), TransactionError> {
        if self.operation != Operation::Read {
            return Ok(());
        }
        let plane = |page: &Ppn| layout.plane_of(layout.block_of(*page));
        let first = &self.pages[..self.planes as usize];
        let stray = |page: &&Ppn| first.iter().all(|known| plane(known) != plane(page));
        self.pages.iter().find(stray).map_or(Ok(()), |page| {
            Err(TransactionError::OtherPlanes {
                address: layout.describe(*page),
            })
        })
    }

    fn check_shape(&self) -> Result<(), TransactionError> {
        let (pages, targets) = (self.pages.len(), self.targets.len());
        if pages == 0 || self.planes == 0 || !pages.is_multiple_of(self.planes as usize) {
            return Err(TransactionError::Rows {
                pages,
                planes: self.planes,
            });
        }
        let operation = self.operation.name();
        let rows = self.rows();
        if rows > 1 && matches!(self.operation, Operation::Erase | Operation::Move) {
            return Err(TransactionError::NoCacheMode { operation, rows });
        }
        let wanted = if self.operation == Operation::Move {
            pages
        } else {
            0
        };
        if targets == wanted {
            return Ok(());
        }
        Err(TransactionError::Targets {
            operation,
            pages,
            targets,
        })
    }

    fn check_rows(
        &self,
        layout: &Layout,
        pages: &[Ppn],
        rule: PlaneRule,
    ) -> Result<(), TransactionError> {
        let Some(&first) = self.pages.first() else {
            return Ok(());
        };
        let die = layout.die_of_page(first);
        for row in pages.chunks(self.planes as usize) {
            for (place, &page) in row.iter().enumerate() {
                let address = || layout.describe(page);
                if layout.die_of_page(page) != die {
                    let first = layout.describe(first);
                    return Err(TransactionError::OtherDie {
                        address: address(),
                        first,
                    });
                }
                let plane = |page| layout.plane_of(layout.block_of(page));
                let offsets = |page| {
                    let block = layout.block_in_plane(layout.block_of(page));
                    if self.operation == Operation::Erase {
                        return (block, 0);
                    }
                    (block, layout.page_in_block(page))
                };
                if let Some(&other) = row[..place]
                    .iter()
                    .find(|other| plane(**other) == plane(page))
                {
                    return Err(TransactionError::SamePlane {
                        address: address(),
                        other: layout.describe(other),
                    });
                }
                if !rule.allows(offsets(row[0]), offsets(page)) {
                    return Err(TransactionError::PlaneRule {
                        address: address(),
                        other: layout.describe(row[0]),
                        rule: rule.words(),
                    });
                }
            }
        }
        Ok(())
    }

    fn check_moves(&self, layout: &Layout) -> Result<(), TransactionError> {
        let plane = |page| layout.plane_of(layout.block_of(page));
        let mut moves = self.pages.iter().zip(self.targets);
        let stray = moves.find(|(from, to)| plane(**from) != plane(**to));
        stray.map_or(Ok(()), |(from, to)| {
            Err(TransactionError::OtherPlane {
                from: layout.describe(*from),
                to: layout.describe(*to),
            })
        })
    }
}
