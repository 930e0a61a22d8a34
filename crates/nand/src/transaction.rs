//! What a package can be asked for: an operation, the pages, the mode.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Layout, PlaneRule, Ppn};

/// What a die is asked to do.
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

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::Move => "move",
        }
    }
}

/// An operation on one die, with the mode it is done in.
///
/// `pages` are rows of `planes` pages each. The pages of a row are worked on at once and lie in
/// different planes; more than one plane is multi-plane mode. Several rows follow one another in one
/// command: cache mode, which reads and programs have. An erase names any page of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction<'a> {
    /// What to do.
    pub operation: Operation,
    /// The pages, row by row.
    pub pages: &'a [Ppn],
    /// Where each page goes; for a move only, otherwise empty.
    pub targets: &'a [Ppn],
    /// Pages in a row.
    pub planes: u32,
}

/// A transaction that no part would accept, whatever the state of its array.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TransactionError {
    /// Rows that are no rows.
    #[error(
        "{pages} pages cannot be cut into rows of {planes}; give each row one page for every plane"
    )]
    Rows {
        /// Pages given.
        pages: usize,
        /// Pages in a row.
        planes: u32,
    },
    /// A page that the part does not have.
    #[error("page {page} is beyond the part's {pages} pages")]
    BeyondPart {
        /// The page.
        page: u32,
        /// Pages of the part.
        pages: u32,
    },
    /// Cache mode where it does not exist.
    #[error(
        "{operation} of {rows} rows: only reads and programs have a cache mode; submit the rows one by one"
    )]
    NoCacheMode {
        /// The operation in words.
        operation: &'static str,
        /// Rows given.
        rows: usize,
    },
    /// Targets missing, or given where there is no use for them.
    #[error(
        "{operation} of {pages} pages with {targets} targets; a move has a target for each page, others have none"
    )]
    Targets {
        /// The operation in words.
        operation: &'static str,
        /// Pages given.
        pages: usize,
        /// Targets given.
        targets: usize,
    },
    /// Pages of different dies.
    #[error("{address} is on another die than {first}; a transaction is carried out by one die")]
    OtherDie {
        /// The page in words.
        address: String,
        /// The first page in words.
        first: String,
    },
    /// Plane addressing rule: planes.
    #[error(
        "{address} is in the same plane as {other}; the pages of a row lie in different planes"
    )]
    SamePlane {
        /// The page in words.
        address: String,
        /// The page before it in words.
        other: String,
    },
    /// Plane addressing rule: offsets.
    #[error("{address} breaks the plane rule beside {other}: {rule}")]
    PlaneRule {
        /// The page in words.
        address: String,
        /// The first page of its row in words.
        other: String,
        /// What has to be equal.
        rule: &'static str,
    },
    /// A cache read that changes planes.
    #[error(
        "{address}: the first row has no page in this plane; the rows of a cache read use the same planes"
    )]
    OtherPlanes {
        /// The page in words.
        address: String,
    },
    /// A move out of its plane.
    #[error(
        "move of {from} to {to}: the data register belongs to one plane; read and program instead"
    )]
    OtherPlane {
        /// The source in words.
        from: String,
        /// The target in words.
        to: String,
    },
}

/// The way an operation is carried out: each of these also die-interleaved, which is a matter of
/// the package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One page or block at a time.
    #[default]
    Legacy,
    /// Rows that follow one another through the cache register.
    Cache,
    /// Internal data move.
    Move,
    /// Several planes at once.
    MultiPlane,
    /// Several planes at once, rows through the cache registers.
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
    /// In words.
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
    /// The mode that the transaction is carried out in.
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
    /// Rows of the transaction.
    pub fn rows(&self) -> usize {
        self.pages.len() / self.planes.max(1) as usize
    }

    /// Checks the addresses against the layout and the plane addressing rule.
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

    /// The registers of a cache read are those of its first row.
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
