//! Dies of a package and the bus that they share, one cycle at a time.

use super::{Cycle, Die, Output, Part, Refusal};

#[derive(Clone, Copy, Debug)]
struct Held {
    die: usize,
    cycle: Cycle,
    left: u32,
}

/// Bus with its dies.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Part of all dies.
    pub part: Part,
    /// Dies on the bus.
    pub dies: Vec<Die>,
    /// Elapsed ticks.
    pub now: u64,
    held: Option<Held>,
}

impl Bus {
    /// Creates an idle bus with idle dies.
    pub fn new(part: Part) -> Self {
        Self {
            dies: vec![Die::new(&part); part.dies],
            part,
            now: 0,
            held: None,
        }
    }
    /// Returns `true` if a cycle is on the bus.
    pub fn busy(&self) -> bool {
        self.held.is_some()
    }
    /// Returns the die whose cycle is on the bus.
    pub fn holder(&self) -> Option<usize> {
        self.held.map(|held| held.die)
    }
    /// Returns `true` if the die is performing an operation that it can suspend.
    pub fn may_suspend(&self, die: usize) -> bool {
        let command = Cycle::Command(self.suspend_command(die));
        self.dies[die]
            .suspend_latency(&self.part, command)
            .is_some()
            && !self.dies[die].ready()
    }
    /// Returns the command that suspends the operation of the die.
    pub fn suspend_command(&self, die: usize) -> u8 {
        if self.dies[die].erases() { 0x61 } else { 0x84 }
    }
    /// Starts a cycle at the current tick. Any refusal makes the die fail, unless the bus or the
    /// die is busy.
    pub fn issue(&mut self, die: usize, cycle: Cycle) -> Result<(), Refusal> {
        if self.busy() {
            return Err(Refusal::BusBusy);
        }
        let verdict = self.dies[die].judge(&self.part, cycle);
        match verdict {
            Ok(()) => {
                let left = self.ticks(die, cycle);
                self.held = Some(Held { die, cycle, left });
            }
            Err(Refusal::Busy) => {}
            Err(_) => self.dies[die].fail(),
        }
        verdict
    }
    /// Returns the number of ticks for which a cycle holds the bus.
    fn ticks(&self, die: usize, cycle: Cycle) -> u32 {
        match cycle {
            Cycle::Command(_) | Cycle::Address(_) => self.part.cycle,
            Cycle::DataOut { .. } if self.dies[die].status_asked() => self.part.cycle,
            Cycle::DataIn { bytes, .. } | Cycle::DataOut { bytes } => bytes,
        }
    }
    /// Advances by one tick. Returns the output of a cycle that ends with it.
    pub fn step(&mut self) -> Option<(usize, Output)> {
        self.now += 1;
        for die in &mut self.dies {
            die.step();
        }
        let held = self.held.as_mut()?;
        held.left -= 1;
        if held.left > 0 {
            return None;
        }
        let Held { die, cycle, .. } = *held;
        self.held = None;
        Some((die, self.dies[die].obey(&self.part, cycle)))
    }
}
