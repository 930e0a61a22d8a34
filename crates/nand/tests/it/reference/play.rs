//! Executes the scripts of all dies of a package, on the interface and the reference in parallel.

use wordline_kernel::Rng;

use super::chain::{Mode, Transaction};
use super::pair::Pair;
use super::plan::{Planner, below, one_in};
use super::script::{self, Script, Step};
use super::{Cycle, Place, Refusal};

/// Scripts of all dies, executed together.
pub struct Play<'a> {
    /// Interface under test, and its reference.
    pub pair: &'a mut Pair,
    /// Script of each die.
    pub scripts: Vec<Script>,
    /// Source of randomness: selects the die of the next cycle and the points at which the status
    /// is read.
    pub random: &'a mut Rng,
    /// Whether every cycle must be accepted.
    pub legal: bool,
    /// Refused cycles so far. Count.
    pub refused: usize,
}

impl Play<'_> {
    /// Runs all scripts to their end. Returns the number of refused cycles.
    pub fn run(mut self) -> usize {
        while self.scripts.iter().any(|script| !script.is_empty()) {
            let first = below(self.random, self.scripts.len());
            for die in 0..self.scripts.len() {
                self.go_on((first + die) % self.scripts.len());
            }
            self.pair.tick();
        }
        while self.pair.bus.busy() {
            self.pair.tick();
        }
        self.refused
    }
    /// Executes the steps of the die's script that are possible at the current tick.
    fn go_on(&mut self, die: usize) {
        let busy = self.pair.bus.busy();
        let ready = self.pair.bus.dies[die].ready();
        while let Some(step) = self.scripts[die].front_mut() {
            match step {
                Step::Gap(0) => drop(self.scripts[die].pop_front()),
                Step::Gap(left) => {
                    *left -= 1;
                    return;
                }
                Step::WhileSuspended => {
                    self.scripts[die].pop_front();
                    self.read_while_suspended(die);
                }
                Step::Wait if ready && self.pair.bus.holder() != Some(die) => {
                    self.scripts[die].pop_front();
                }
                Step::Wait => return self.while_waiting(die),
                Step::Intrude(cycle) if busy => {
                    let cycle = *cycle;
                    self.scripts[die].pop_front();
                    self.issue(die, cycle);
                    return;
                }
                Step::Intrude(_) => drop(self.scripts[die].pop_front()),
                Step::Cycle(_) if busy => return,
                Step::Cycle(cycle) => {
                    let cycle = *cycle;
                    self.scripts[die].pop_front();
                    self.issue(die, cycle);
                    return;
                }
            }
        }
    }
    fn while_waiting(&mut self, die: usize) {
        if self.pair.bus.busy() || !one_in(self.random, 8) {
            return;
        }
        if self.pair.bus.may_suspend(die) && one_in(self.random, 2) {
            let suspend = self.pair.bus.suspend_command(die);
            self.push_front(die, vec![Step::Wait, Step::WhileSuspended]);
            self.issue(die, Cycle::Command(suspend));
        } else {
            let mut polls = Script::new();
            script::poll(&mut polls);
            self.push_front(die, polls.into());
        }
    }
    fn push_front(&mut self, die: usize, steps: Vec<Step>) {
        for step in steps.into_iter().rev() {
            self.scripts[die].push_front(step);
        }
    }
    fn read_while_suspended(&mut self, die: usize) {
        let suspended = &self.pair.bus.dies[die];
        if !suspended.suspended() || suspended.failed() {
            return;
        }
        let resume = Cycle::Command(suspended.resume_command());
        let mut steps = vec![Step::Cycle(resume), Step::Wait];
        for _ in 0..below(self.random, 3) {
            if let Some(read) = self.read_elsewhere(die) {
                let part = &self.pair.bus.part;
                steps.splice(0..0, script::write(part, &read, self.random));
            }
        }
        self.push_front(die, steps);
    }
    /// Plans a read that avoids the blocks of suspended operations. In a corrupted sequence, the
    /// read may address one of them.
    fn read_elsewhere(&mut self, die: usize) -> Option<Transaction> {
        let part = &self.pair.bus.part;
        let suspended = self.pair.bus.dies[die].suspended_pages();
        if !self.legal && one_in(self.random, 4) {
            let page = suspended[below(self.random, suspended.len())];
            let page = Place {
                page: [page.page, below(self.random, part.pages)][below(self.random, 2)],
                ..page
            };
            return Some(Transaction {
                mode: Mode::Read,
                rows: vec![vec![page]],
                targets: Vec::new(),
            });
        }
        let cells = self.pair.bus.dies[die].cells.clone();
        let mut planner = Planner {
            part,
            cells,
            most_rows: 2,
        };
        let several = part.planes > 1 && one_in(self.random, 2);
        let mode = [Mode::Read, Mode::MultiPlaneRead][usize::from(several)];
        let block = |page: &Place| (page.plane, page.block);
        let suspended: Vec<_> = suspended.iter().map(block).collect();
        let read = planner.plan(self.random, mode)?;
        let elsewhere = !read.rows[0]
            .iter()
            .any(|page| suspended.contains(&block(page)));
        elsewhere.then_some(read)
    }
    fn issue(&mut self, die: usize, cycle: Cycle) {
        let verdict = self.pair.issue(die, cycle);
        let Err(refusal) = verdict else { return };
        if self.legal {
            self.pair.disagree("a legal cycle was refused");
        }
        self.refused += 1;
        match refusal {
            Refusal::Busy if one_in(self.random, 2) => {
                self.push_front(die, vec![Step::Wait, Step::Cycle(cycle)]);
            }
            Refusal::BusBusy | Refusal::Busy | Refusal::Failed => {}
            _ => self.give_up(die),
        }
    }
    /// Replaces the script of a failed die: the status is read and, sometimes, another cycle is
    /// issued.
    fn give_up(&mut self, die: usize) {
        let mut script = Script::new();
        script::poll(&mut script);
        if one_in(self.random, 4) {
            let any = script::any_cycle(&self.pair.bus.part, self.random);
            script.push_back(Step::Cycle(any));
            script::poll(&mut script);
        }
        self.scripts[die] = script;
    }
}
