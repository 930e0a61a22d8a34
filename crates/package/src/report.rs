//! Report of an experiment on a package.

use std::time::Duration;

use serde::{Serialize, Serializer};
use wordline_kernel::Time;
use wordline_nand::chain::Stage;
use wordline_nand::package::{Completion, Package, Usage};
use wordline_nand::transaction::Mode;
use wordline_nand::{Die, Energy};

use super::PackageSim;

/// Result of an experiment on a package. Times are in picoseconds, energies in nanojoules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the device.
    pub device: String,
    /// Dies of the package. Count.
    pub dies: u32,
    /// Planes per die. Count.
    pub planes_per_die: u32,
    /// User bytes per page.
    pub page_bytes: u32,
    /// Requests, or blocks of a migration. Count.
    pub requests: u64,
    /// Bytes requested, or copied by a migration; 0 for erases.
    pub bytes: u64,
    /// Commands that the package executed, each with all its rows. Count.
    pub transactions: u64,
    /// Pages, or blocks, of all transactions. Count.
    pub pages: u64,
    /// Time from the first command to the end of the last.
    pub elapsed_ps: u64,
    /// Bytes over elapsed time. Megabytes per second.
    pub bandwidth_mb_per_s: f64,
    /// Requests per second of elapsed time.
    pub requests_per_s: f64,
    /// Latency of a request, from issue to the end of its last row; in a migration, latency of a
    /// transaction.
    pub latency: Latency,
    /// Time in each stage, over all dies.
    pub stage_ps: Stages,
    /// Time for which the bus was occupied.
    pub bus_busy_ps: u64,
    /// Time for which transactions waited for the bus.
    pub bus_wait_ps: u64,
    /// Execution time of all transactions, each from its start on the die to its completion.
    pub execution_ps: u64,
    /// Share of the execution time that was spent waiting for the bus. Ratio.
    pub contention_ratio: f64,
    /// Energy of the experiment.
    pub energy_nj: EnergyReport,
    /// Results per operation mode; unused modes are left out.
    pub modes: Vec<ModeReport>,
    /// Results per die.
    pub per_die: Vec<DieReport>,
    /// Every stage, if recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strips: Vec<StripReport>,
    /// Speed of the simulator, for a stream. Not part of the result.
    pub speed: Speed,
}

/// Mean and maximum latency of requests or transactions. Picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Mean latency, rounded down. Picoseconds.
    pub mean_ps: u64,
    /// Maximum latency. Picoseconds.
    pub max_ps: u64,
}

/// Times in the order of [`Stage::ALL`]; serialised as a table with the stages' names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages(pub [Time; 8]);

impl Serialize for Stages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            Stage::ALL
                .iter()
                .zip(self.0)
                .map(|(stage, time)| (stage.name(), time.ps())),
        )
    }
}

/// Energy by use. Nanojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EnergyReport {
    /// Energy of array reads. Nanojoules.
    pub read: f64,
    /// Energy of array programs. Nanojoules.
    pub program: f64,
    /// Energy of block erases. Nanojoules.
    pub erase: f64,
    /// Energy of the bus. Nanojoules.
    pub bus: f64,
    /// Standby energy of dies without a transaction. Nanojoules.
    pub standby: f64,
    /// Sum of all uses. Nanojoules.
    pub total: f64,
}

/// Results of one operation mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeReport {
    /// Name of the operation mode.
    pub mode: &'static str,
    /// Commands that the package executed in this mode. Count.
    pub transactions: u64,
    /// Time that the commands of this mode spent in each stage. Picoseconds.
    pub stage_ps: Stages,
    /// Energy of the commands of this mode. Standby energy belongs to no mode.
    pub energy_nj: EnergyReport,
}

/// Results of a die.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DieReport {
    /// Index of the die in the package.
    pub die: u32,
    /// Commands that the die executed. Count.
    pub transactions: u64,
    /// Time that the die spent in each stage. Picoseconds.
    pub stage_ps: Stages,
    /// Busy time of the array.
    pub array_busy_ps: u64,
    /// Time for which the bus was occupied for the die.
    pub bus_busy_ps: u64,
    /// Time for which transactions of the die waited for the bus.
    pub bus_wait_ps: u64,
    /// Energy of the die.
    pub energy_nj: EnergyReport,
}

/// Interval that a die spent in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StripReport {
    /// Number of the transaction.
    pub transaction: u64,
    /// Index of the die in the package.
    pub die: u32,
    /// Name of the stage.
    pub stage: &'static str,
    /// Command code, if the stage is a command.
    pub command: Option<u8>,
    /// Start of the interval. Picoseconds.
    pub from_ps: u64,
    /// End of the interval. Picoseconds.
    pub until_ps: u64,
}

/// Speed of the simulator. Zero if it was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Speed {
    /// CPU time of the process during the experiment. Seconds.
    pub cpu_s: f64,
    /// Transactions per second of CPU time.
    pub transactions_per_cpu_s: f64,
}

impl EnergyReport {
    fn add(&mut self, usage: &Usage, energy: &Energy) {
        let [read, program, erase, bus] = usage.energy_nj(energy);
        self.read += read;
        self.program += program;
        self.erase += erase;
        self.bus += bus;
        self.total += read + program + erase + bus;
    }
    fn stand_by(&mut self, energy_nj: f64) {
        self.standby += energy_nj;
        self.total += energy_nj;
    }
}

/// Sums over transactions and requests.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pages: u64,
    transactions: u64,
    requests: u64,
    latency: Time,
    latency_max: Time,
    end: Time,
    /// Execution time and bus wait of each die.
    execution: Vec<Time>,
    bus_wait: Vec<Time>,
}

impl Sums {
    pub fn new(dies: u32) -> Self {
        Self {
            pages: 0,
            transactions: 0,
            requests: 0,
            latency: Time::ZERO,
            latency_max: Time::ZERO,
            end: Time::ZERO,
            execution: vec![Time::ZERO; dies as usize],
            bus_wait: vec![Time::ZERO; dies as usize],
        }
    }

    pub fn transaction(&mut self, die: Die, pages: usize, completion: &Completion) {
        self.transactions += 1;
        self.pages += pages as u64;
        self.execution[die.index()] += completion.completed - completion.started;
        self.bus_wait[die.index()] += completion.bus_wait;
        self.end = self.end.max(completion.completed);
    }

    pub fn request(&mut self, latency: Time) {
        self.requests += 1;
        self.latency += latency;
        self.latency_max = self.latency_max.max(latency);
    }

    fn die(&self, bench: &PackageSim, die: u32, usage: &[Usage]) -> DieReport {
        let mut stages = Stages::default();
        let mut energy_nj = EnergyReport::default();
        for mode in usage {
            for (sum, time) in stages.0.iter_mut().zip(mode.stages) {
                *sum += time;
            }
            energy_nj.add(mode, &bench.energy);
        }
        let idle = self.end - self.execution[die as usize];
        energy_nj.stand_by(bench.energy.standby_nj(idle));
        DieReport {
            die,
            transactions: usage.iter().map(|mode| mode.transactions).sum(),
            stage_ps: stages,
            array_busy_ps: usage.iter().map(Usage::array).sum::<Time>().ps(),
            bus_busy_ps: usage.iter().map(Usage::bus).sum::<Time>().ps(),
            bus_wait_ps: self.bus_wait[die as usize].ps(),
            energy_nj,
        }
    }

    pub fn report(
        &self,
        bench: &PackageSim,
        package: &Package,
        requests: u64,
        bytes: u64,
        cpu: Duration,
    ) -> Report {
        let layout = bench.part.layout;
        let dies = 0..layout.dies;
        let per_die: Vec<DieReport> = dies
            .map(|die| self.die(bench, die, package.usage(Die(die))))
            .collect();
        let (execution, bus_wait) = (total(&self.execution), total(&self.bus_wait));
        let seconds = self.end.as_secs();
        let mut stage_ps = Stages::default();
        let mut energy_nj = EnergyReport::default();
        for die in &per_die {
            for (sum, time) in stage_ps.0.iter_mut().zip(die.stage_ps.0) {
                *sum += time;
            }
            energy_nj.join(&die.energy_nj);
        }
        Report {
            device: bench.device.clone(),
            dies: layout.dies,
            planes_per_die: layout.planes_per_die,
            page_bytes: bench.page_bytes,
            requests,
            bytes,
            transactions: self.transactions,
            pages: self.pages,
            elapsed_ps: self.end.ps(),
            bandwidth_mb_per_s: bytes as f64 / 1e6 / seconds,
            requests_per_s: requests as f64 / seconds,
            latency: Latency {
                mean_ps: self.latency.ps() / self.requests.max(1),
                max_ps: self.latency_max.ps(),
            },
            bus_busy_ps: per_die.iter().map(|die| die.bus_busy_ps).sum(),
            bus_wait_ps: bus_wait.ps(),
            execution_ps: execution.ps(),
            contention_ratio: bus_wait.ps() as f64 / execution.ps().max(1) as f64,
            stage_ps,
            energy_nj,
            modes: modes(bench, package),
            per_die,
            strips: strips(package),
            speed: Speed::new(self.transactions, cpu),
        }
    }
}

impl EnergyReport {
    fn join(&mut self, other: &Self) {
        self.read += other.read;
        self.program += other.program;
        self.erase += other.erase;
        self.bus += other.bus;
        self.standby += other.standby;
        self.total += other.total;
    }
}

impl Speed {
    fn new(transactions: u64, cpu: Duration) -> Self {
        let cpu_s = cpu.as_secs_f64();
        if cpu_s == 0.0 {
            return Self::default();
        }
        Self {
            cpu_s,
            transactions_per_cpu_s: transactions as f64 / cpu_s,
        }
    }
}

fn total(times: &[Time]) -> Time {
    times.iter().copied().sum()
}

fn modes(bench: &PackageSim, package: &Package) -> Vec<ModeReport> {
    let mut modes = Vec::new();
    for mode in Mode::ALL {
        let mut told = ModeReport {
            mode: mode.name(),
            transactions: 0,
            stage_ps: Stages::default(),
            energy_nj: EnergyReport::default(),
        };
        for die in 0..bench.part.layout.dies {
            let usage = &package.usage(Die(die))[mode as usize];
            told.transactions += usage.transactions;
            for (sum, time) in told.stage_ps.0.iter_mut().zip(usage.stages) {
                *sum += time;
            }
            told.energy_nj.add(usage, &bench.energy);
        }
        if told.transactions > 0 {
            modes.push(told);
        }
    }
    modes
}

fn strips(package: &Package) -> Vec<StripReport> {
    let strips = package.strips().iter();
    strips
        .map(|strip| StripReport {
            transaction: strip.transaction,
            die: strip.die.0,
            stage: strip.stage.name(),
            command: strip.command,
            from_ps: strip.from.ps(),
            until_ps: strip.until.ps(),
        })
        .collect()
}
