//! Costs of programs and reads compared with table 1 of Li et al.
#![allow(clippy::unwrap_used)]

use wordline_kernel::Time;
use wordline_reliability::programming::{Price, step_size::StepSize, table::Table};
use wordline_reliability::{ModeCosts, ProgramMode, Programming, Shift};

/// Read and write times in microseconds and wear in thousandths, from table 1.
const TABLE_1: [(ProgramMode, u64, u64, u32); 4] = [
    (ProgramMode::Low, 310, 450, 1000),
    (ProgramMode::Medium, 170, 600, 1000),
    (ProgramMode::High, 70, 800, 1000),
    (ProgramMode::Reduced, 310, 600, 800),
];

fn costs(programming: &impl Price) -> ModeCosts {
    programming.costs().unwrap().unwrap()
}

#[test]
fn program_steps_reproduce_table_1_to_the_microsecond() {
    let costs = costs(&StepSize::default());
    for (mode, read, write, wear) in TABLE_1 {
        let cost = costs.of(mode);
        assert_eq!(cost.read(), Time::from_us(read), "{}", mode.name());
        assert_eq!(cost.write, Time::from_us(write), "{}", mode.name());
        assert_eq!(cost.wear, wear, "{}", mode.name());
    }
    let transfers = ProgramMode::ALL.map(|mode| costs.of(mode).transfer);
    assert_eq!(transfers, [80, 100, 40, 100].map(Time::from_us));
}

#[test]
fn table_and_step_model_agree_in_costs_and_steps() {
    let (table, model) = (costs(&Table::default()), costs(&StepSize::default()));
    for mode in ProgramMode::ALL {
        let (table, model) = (table.of(mode), model.of(mode));
        assert_eq!(
            (
                table.sense,
                table.transfer,
                table.write,
                table.wear,
                table.level
            ),
            (
                model.sense,
                model.transfer,
                model.write,
                model.wear,
                model.level
            )
        );
    }
    let (table, model) = (Table::default().steps(), StepSize::default().steps());
    for (table, model) in table.into_iter().zip(model) {
        assert!((table.step - model.step).abs() < 1e-12);
        assert!((table.voltage - model.voltage).abs() < 1e-12);
    }
}

#[test]
fn modes_of_table_1_need_their_published_sense_levels() {
    let model = StepSize::default();
    for (mode, rate, level) in [
        (ProgramMode::High, 4.57e-3, 0),
        (ProgramMode::Medium, 8.93e-3, 1),
        (ProgramMode::Low, 2.00e-2, 2),
        (ProgramMode::Reduced, 2.17e-2, 2),
    ] {
        let found = model.rate(mode);
        assert!((found / rate - 1.0).abs() < 3e-3, "{found}");
        assert_eq!(costs(&model).of(mode).level, level);
    }
}

#[test]
fn a_voltage_that_no_sense_level_corrects_is_rejected() {
    let lower = StepSize {
        reduced_voltage: 0.78,
        ..StepSize::default()
    };
    assert_eq!(lower.costs().unwrap_err().key, "correctable");
    // With soft decisions at all three levels, the first sense level of every mode corrects more
    // errors.
    let soft = StepSize {
        correctable: vec![9.8e-3, 1.96e-2, 2.19e-2],
        ..StepSize::default()
    };
    assert_eq!(
        costs(&soft).of(ProgramMode::Medium).read(),
        Time::from_us(70)
    );
}

#[test]
fn program_modes_survive_a_round_trip_through_two_bits() {
    for mode in ProgramMode::ALL {
        assert_eq!(ProgramMode::of_bits(mode as u8), mode);
    }
}

#[test]
fn medium_mode_does_not_change_the_error_rate() {
    for programming in Programming::defaults() {
        if programming.costs().unwrap().is_none() {
            continue;
        }
        let shift = Shift::new(programming.distance(), &programming.steps());
        assert_eq!(shift.rate(ProgramMode::Medium, 1e-4), 1e-4);
        let rates = [ProgramMode::High, ProgramMode::Medium, ProgramMode::Low]
            .map(|mode| shift.rate(mode, 1e-3));
        assert!(rates.is_sorted(), "{rates:?}");
    }
}
