//! A stream of requests in a closed loop.

use std::collections::VecDeque;

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::package::{Completion, Package};
use wordline_nand::{Layout, Operation, Ppn, Schedule, Transaction};

use super::command::{Bounds, Waiting};
use super::report::{Report, Sums};
use super::{PackageError, PackageSim, within};

/// Requests of one kind, sequential over the whole package. Successive pages are on different dies
/// and planes, in the order of `nand.scheduler`, at the same offset in their blocks; the pages of a
/// block are used in order (`swr` and `srd` of Jung 2013, table 2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Operation of every request.
    pub operation: StreamOperation,
    /// Size of a request, rounded up to whole pages. A request starts at the page after the
    /// previous one. An erase request is one block. Bytes.
    pub request_bytes: u64,
    /// Number of requests. Count.
    pub requests: u32,
    /// Outstanding requests. When a command that ends a request is done, the next request is
    /// issued. Count.
    pub queue_depth: u32,
    /// Maximum number of rows in one command; 1 disables cache mode. Count.
    pub cache_rows: u32,
    /// Whether the dies work at the same time. Otherwise they work one after another.
    pub interleaved: bool,
}

/// Operation of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamOperation {
    /// Reads pages that were programmed before the run.
    Read,
    /// Programs an erased package.
    Program,
    /// Erases blocks.
    Erase,
}

impl StreamOperation {
    const fn of_nand(self) -> Operation {
        match self {
            Self::Read => Operation::Read,
            Self::Program => Operation::Program,
            Self::Erase => Operation::Erase,
        }
    }
}

/// Addresses of a stream's pages.
#[derive(Clone, Copy, Debug)]
struct Pages {
    layout: Layout,
    /// Pages, or blocks, per request. Count.
    each: u32,
    erases: bool,
}

impl Pages {
    fn new(bench: &PackageSim, stream: &Stream) -> Result<Self, PackageError> {
        let layout = bench.part.layout;
        let erases = stream.operation == StreamOperation::Erase;
        let whole = u64::from(layout.pages()) * u64::from(bench.page_bytes);
        within("request_bytes", stream.request_bytes, 1, whole)?;
        let each = stream.request_bytes.div_ceil(u64::from(bench.page_bytes));
        Ok(Self {
            layout,
            each: if erases { 1 } else { each as u32 },
            erases,
        })
    }
    /// Returns the number of pages, or of blocks, in the package.
    const fn most(&self) -> u64 {
        (if self.erases {
            self.layout.blocks()
        } else {
            self.layout.pages()
        }) as u64
    }
    fn place(&self, schedule: &impl Schedule, number: u64) -> Ppn {
        let layout = &self.layout;
        let place = schedule.place(number % self.most(), layout.dies, layout.planes_per_die);
        let pages = u64::from(layout.pages_per_block);
        let plane = wordline_nand::Plane(place.die * layout.planes_per_die + place.plane);
        if self.erases {
            return layout.page(layout.block(plane, place.page as u32), 0);
        }
        let block = layout.block(plane, (place.page / pages) as u32);
        layout.page(block, (place.page % pages) as u32)
    }
}

/// A stream in progress.
struct Loop<'a> {
    stream: &'a Stream,
    bench: &'a PackageSim,
    pages: Pages,
    bounds: Bounds,
    /// Queue of each die, or one queue if dies are not interleaved.
    lines: Vec<VecDeque<Waiting>>,
    /// Transaction in progress of each queue: its number and its pages.
    sent: Vec<(u64, Vec<Waiting>)>,
    /// Requests issued so far. Count.
    issued: u32,
    next_page: u64,
    /// Pages of each request that are left to complete, and its time of issue.
    open: Vec<(u32, Time)>,
    done: u32,
    /// Buffer that is reused between calls.
    row: Vec<Ppn>,
    sums: Sums,
}

/// Transaction number of an idle queue.
const NONE: u64 = u64::MAX;

pub(super) fn run(bench: &PackageSim, stream: &Stream) -> Result<Report, PackageError> {
    check(stream)?;
    let pages = Pages::new(bench, stream)?;
    let total = u64::from(stream.requests) * u64::from(pages.each);
    if stream.operation != StreamOperation::Read && total > pages.most() {
        return Err(PackageError::Load {
            key: "requests",
            value: stream.requests.into(),
            rule: format!(
                "the requests need {total} erased {}, and the package has {}",
                if pages.erases { "blocks" } else { "pages" },
                pages.most()
            ),
            remedy: "ask for fewer requests, or raise nand.geometry.blocks_per_plane",
        });
    }
    let mut package = bench.package(stream.interleaved);
    if stream.operation == StreamOperation::Read {
        for number in 0..total.min(pages.most()) {
            let page = pages.place(&bench.part.scheduler, number);
            package.array_mut().program(page)?;
        }
    }
    let cpu = ProcessTime::now();
    let mut run = Loop::new(bench, stream, pages);
    run.carry_out(&mut package)?;
    let cpu = cpu.elapsed();
    let bytes = u64::from(stream.requests)
        * if pages.erases {
            0
        } else {
            stream.request_bytes
        };
    Ok(run
        .sums
        .report(bench, &package, stream.requests.into(), bytes, cpu))
}

fn check(stream: &Stream) -> Result<(), PackageError> {
    within("requests", stream.requests.into(), 1, 10_000_000)?;
    within("queue_depth", stream.queue_depth.into(), 1, 1_000_000)?;
    within("cache_rows", stream.cache_rows.into(), 1, 4096)?;
    if stream.operation == StreamOperation::Erase && stream.cache_rows > 1 {
        return Err(PackageError::Load {
            key: "cache_rows",
            value: stream.cache_rows.into(),
            rule: "an erase has no cache mode".into(),
            remedy: "give 1",
        });
    }
    Ok(())
}

impl<'a> Loop<'a> {
    fn new(bench: &'a PackageSim, stream: &'a Stream, pages: Pages) -> Self {
        let layout = bench.part.layout;
        let lines = if stream.interleaved { layout.dies } else { 1 } as usize;
        Self {
            stream,
            bench,
            pages,
            bounds: Bounds {
                layout,
                rule: bench.part.plane_rule,
                planes: bench.part.scheduler.planes(layout.planes_per_die),
                rows: stream.cache_rows,
                same_planes: stream.operation == StreamOperation::Read,
            },
            lines: vec![VecDeque::new(); lines],
            sent: vec![(NONE, Vec::new()); lines],
            issued: 0,
            next_page: 0,
            open: vec![(0, Time::ZERO); stream.requests as usize],
            done: 0,
            row: Vec::new(),
            sums: Sums::new(layout.dies),
        }
    }

    fn carry_out(&mut self, package: &mut Package) -> Result<(), PackageError> {
        self.issue(package)?;
        while let Some(completion) = package.next_completion() {
            let line = self.line_of(&completion);
            self.settle(line, completion)?;
            self.issue(package)?;
        }
        Ok(())
    }

    fn line_of(&self, completion: &Completion) -> usize {
        let mut sent = self.sent.iter();
        sent.position(|(number, _)| *number == completion.number)
            .unwrap_or_default()
    }

    /// Issues requests up to the queue depth, and submits commands to idle dies.
    fn issue(&mut self, package: &mut Package) -> Result<(), PackageError> {
        let now = package.now();
        while self.issued < self.stream.requests
            && self.issued - self.done < self.stream.queue_depth
        {
            self.open[self.issued as usize] = (self.pages.each, now);
            for _ in 0..self.pages.each {
                let page = self.pages.place(&self.bench.part.scheduler, self.next_page);
                self.next_page += 1;
                let line = if self.stream.interleaved {
                    self.bounds.layout.die_of_page(page).index()
                } else {
                    0
                };
                let request = self.issued;
                self.lines[line].push_back(Waiting { page, request });
            }
            self.issued += 1;
        }
        (0..self.lines.len()).try_for_each(|line| self.send(package, line))
    }

    fn send(&mut self, package: &mut Package, line: usize) -> Result<(), PackageError> {
        let (number, pages) = &mut self.sent[line];
        if *number != NONE || self.lines[line].is_empty() {
            return Ok(());
        }
        let planes = self.bounds.take(&mut self.lines[line], pages);
        self.row.clear();
        self.row.extend(pages.iter().map(|waiting| waiting.page));
        let transaction = Transaction {
            operation: self.stream.operation.of_nand(),
            pages: &self.row,
            targets: &[],
            planes,
        };
        *number = package.submit(package.now(), &transaction)?;
        Ok(())
    }

    /// Accounts for a completed transaction. The pages of a row are done when the row is.
    fn settle(&mut self, line: usize, completion: Completion) -> Result<(), PackageError> {
        let (number, pages) = &mut self.sent[line];
        *number = NONE;
        let die = self.bounds.layout.die_of_page(pages[0].page);
        self.sums.transaction(die, pages.len(), &completion);
        let width = pages.len() / completion.rows.len().max(1);
        for (place, waiting) in pages.iter().enumerate() {
            let row = completion.rows.get(place / width);
            let at = row.copied().unwrap_or(completion.completed);
            let (left, since) = &mut self.open[waiting.request as usize];
            *left -= 1;
            if *left == 0 {
                self.done += 1;
                self.sums.request(at - *since);
            }
        }
        completion.result?;
        Ok(())
    }
}
