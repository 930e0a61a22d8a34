//! Reference package: executes transactions on a bus with first-come arbitration, one bus grant at
//! a time.

use std::collections::VecDeque;

use super::chain::{Hold, Transaction, chain};
use super::{Bus, Cycle, Die};

/// Transaction with its time of submission.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Time of submission. Ticks.
    pub at: u64,
    /// Die of the transaction.
    pub die: usize,
    /// Transaction submitted.
    pub transaction: Transaction,
}

/// Completion times of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Completion time of each row. Ticks.
    pub rows: Vec<u64>,
    /// End of the last bus grant. Ticks.
    pub end: u64,
}

/// Ticks in each stage, summed over all dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Command cycles.
    pub cle: u64,
    /// Address cycles.
    pub ale: u64,
    /// Data to the page register.
    pub tir: u64,
    /// Data from the page register.
    pub tor: u64,
    /// Status commands and bytes.
    pub status: u64,
    /// Array programs.
    pub tin: u64,
    /// Array reads.
    pub ton: u64,
    /// Array erases.
    pub ber: u64,
}

/// Result of all submissions.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Completion times, in order of submission.
    pub done: Vec<Done>,
    /// Stage times of all transactions.
    pub stages: Stages,
    /// Final state of the dies.
    pub dies: Vec<Die>,
}

/// Condition that a package waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happening {
    HoldEnds(usize),
    Ready(usize),
    Signalled(usize),
}

/// Transaction in progress on a die.
#[derive(Clone, Debug)]
struct Run {
    submission: usize,
    holds: VecDeque<Hold>,
    cycles: VecDeque<Cycle>,
}

/// Package that processes a list of submissions.
pub struct Package<'a> {
    bus: Bus,
    submissions: &'a [Submission],
    interleaved: bool,
    waiting: Vec<usize>,
    running: Vec<Option<Run>>,
    line: VecDeque<usize>,
    holder: Option<usize>,
    happenings: Vec<Happening>,
    submitted: usize,
    done: Vec<Done>,
    stages: Stages,
    ended: usize,
    tokens: u64,
}

impl<'a> Package<'a> {
    /// Creates a package with the array state of `bus`.
    pub fn new(bus: Bus, interleaved: bool, submissions: &'a [Submission]) -> Self {
        let rows = |submission: &Submission| vec![0; submission.transaction.rows.len()];
        Self {
            waiting: Vec::new(),
            running: vec![None; bus.dies.len()],
            line: VecDeque::new(),
            holder: None,
            happenings: Vec::new(),
            submitted: 0,
            done: submissions
                .iter()
                .map(|submission| Done {
                    rows: rows(submission),
                    end: 0,
                })
                .collect(),
            stages: Stages::default(),
            ended: 0,
            tokens: 0,
            bus,
            submissions,
            interleaved,
        }
    }
    /// Runs until all transactions are complete.
    pub fn run(mut self) -> Outcome {
        while self.ended < self.submissions.len() {
            self.happen();
            self.tick();
        }
        for die in &self.bus.dies {
            self.stages.ton += die.worked.reading;
            self.stages.tin += die.worked.programming;
            self.stages.ber += die.worked.erasing;
        }
        Outcome {
            done: self.done,
            stages: self.stages,
            dies: self.bus.dies,
        }
    }
    fn tick(&mut self) {
        self.bus.step();
        if let Some(die) = self.holder
            && !self.bus.busy()
        {
            self.play(die);
        }
    }
    /// Handles the conditions that hold at the current tick in order of registration, then the
    /// submissions of this tick.
    fn happen(&mut self) {
        loop {
            if let Some(first) = self.happenings.iter().position(|it| self.due(*it)) {
                match self.happenings.remove(first) {
                    Happening::HoldEnds(die) => self.hold_ends(die),
                    Happening::Ready(die) if self.says_nothing(die) => {
                        self.happenings.push(Happening::Signalled(die));
                    }
                    Happening::Ready(die) => self.ask(die),
                    Happening::Signalled(die) => self.signalled(die),
                }
            } else if let Some(submission) = self.submissions.get(self.submitted)
                && submission.at <= self.bus.now
            {
                self.waiting.push(self.submitted);
                self.submitted += 1;
                self.start(submission.die);
            } else {
                return;
            }
        }
    }
    fn due(&self, happening: Happening) -> bool {
        match happening {
            Happening::HoldEnds(_) => !self.bus.busy(),
            Happening::Ready(die) => self.bus.dies[die].ready(),
            Happening::Signalled(_) => true,
        }
    }
    /// Returns `true` if the next bus grant of a die is empty.
    fn says_nothing(&self, die: usize) -> bool {
        let next = self.running[die].as_ref().and_then(|run| run.holds.front());
        next.is_some_and(|hold| hold.cycles.is_empty())
    }
    /// Handles the signal of a ready/busy pin, which reports without the bus that the die is ready.
    fn signalled(&mut self, die: usize) {
        let Some((hold, submission, last)) = self.take_hold(die) else {
            return;
        };
        assert!(!hold.waits, "an empty bus grant starts no operation");
        if last {
            self.end(die, submission);
        } else {
            self.ask(die);
        }
    }
    /// Starts the first waiting transaction that may start: of this die or, without interleaving,
    /// of any die.
    fn start(&mut self, die: usize) {
        let first = if self.interleaved {
            let idle = self.running[die].is_none();
            let mut waiting = self.waiting.iter();
            let mine = waiting.position(|nth| self.submissions[*nth].die == die);
            mine.filter(|_| idle)
        } else {
            let idle = self.running.iter().all(Option::is_none);
            (idle && !self.waiting.is_empty()).then_some(0)
        };
        let Some(first) = first else { return };
        let submission = self.waiting.remove(first);
        let Submission {
            die, transaction, ..
        } = &self.submissions[submission];
        let mut token = || {
            self.tokens += 1;
            self.tokens
        };
        let holds = chain(&self.bus.part, transaction, &mut token);
        self.running[*die] = Some(Run {
            submission,
            holds: holds.into(),
            cycles: VecDeque::new(),
        });
        self.ask(*die);
    }
    fn ask(&mut self, die: usize) {
        self.line.push_back(die);
        self.serve();
    }
    /// Grants an idle bus to the first die in the queue.
    fn serve(&mut self) {
        if self.holder.is_some() {
            return;
        }
        let Some(die) = self.line.pop_front() else {
            return;
        };
        self.holder = Some(die);
        self.happenings.push(Happening::HoldEnds(die));
        if let Some(run) = &mut self.running[die]
            && let Some(hold) = run.holds.front()
        {
            run.cycles = hold.cycles.clone().into();
        }
        self.play(die);
    }
    /// Puts the next cycle of the bus grant on the bus.
    fn play(&mut self, die: usize) {
        let next = self.running[die]
            .as_mut()
            .and_then(|run| run.cycles.pop_front());
        let Some(cycle) = next else { return };
        let status = self.bus.dies[die].status_asked();
        let verdict = self.bus.issue(die, cycle);
        assert_eq!(verdict, Ok(()), "{cycle:?} in a chain on die {die}");
        let part = &self.bus.part;
        let (tick, stage) = match cycle {
            Cycle::Command(0x70) => (part.cycle, &mut self.stages.status),
            Cycle::Command(_) => (part.cycle, &mut self.stages.cle),
            Cycle::Address(_) => (part.cycle, &mut self.stages.ale),
            Cycle::DataIn { bytes, .. } => (bytes, &mut self.stages.tir),
            Cycle::DataOut { .. } if status => (part.cycle, &mut self.stages.status),
            Cycle::DataOut { bytes } => (bytes, &mut self.stages.tor),
        };
        *stage += u64::from(tick);
    }
    /// Ends a bus grant, whose last cycle has taken effect.
    fn hold_ends(&mut self, die: usize) {
        let Some((hold, submission, last)) = self.take_hold(die) else {
            return;
        };
        if hold.waits {
            self.happenings.push(Happening::Ready(die));
        }
        self.holder = None;
        self.serve();
        if last {
            self.end(die, submission);
        } else if !hold.waits {
            self.ask(die);
        }
    }
    /// Removes the bus grant that has ended and completes its rows. Returns the grant, the index of
    /// its submission, and whether it was the last grant of the submission.
    fn take_hold(&mut self, die: usize) -> Option<(Hold, usize, bool)> {
        let run = self.running[die].as_mut()?;
        let hold = run.holds.pop_front()?;
        for row in &hold.completes {
            self.done[run.submission].rows[*row] = self.bus.now;
        }
        Some((hold, run.submission, run.holds.is_empty()))
    }
    fn end(&mut self, die: usize, submission: usize) {
        self.done[submission].end = self.bus.now;
        self.ended += 1;
        self.running[die] = None;
        self.start(die);
    }
}
