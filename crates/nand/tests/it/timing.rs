//! Checks that a die accepts the next command as soon as it is ready, and not a picosecond earlier.
//!
//! The times are worked out by hand from the parameters, for each operation mode.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test code

use crate::host;

use host::{CYCLE, DATA, DIE, ERASE, ERASE_SUSPEND, Host, MOVE, PROGRAM, PROGRAM_SUSPEND, QUEUE};
use host::{READ, RESUME, cycles, part, row, token};
use wordline_kernel::Time;
use wordline_nand::Command as C;
use wordline_nand::{Command, CommandError, Cycle, DataSheet, Status};

const PS: Time = Time::from_ps(1);

/// Checks that a command is refused at `ready` - 1 ps and accepted at `ready`, and that the status
/// agrees.
#[track_caller]
fn opens(host: &Host, ready: Time, next: Command) {
    let issue = |at| host.clone().target.issue(at, DIE, next.into());
    match issue(ready - PS) {
        Err(CommandError::Busy { until, .. }) => assert_eq!(until, ready),
        other => panic!("the command was not refused as busy 1 ps early: {other:?}"),
    }
    assert!(issue(ready).is_ok(), "{:?}", issue(ready));
    assert!(!status_at(host, ready - PS).ready());
    assert!(status_at(host, ready).ready());
}

/// Checks that ARDY rises at `free`.
#[track_caller]
fn rests(host: &Host, free: Time) {
    assert!(!status_at(host, free - PS).array_ready());
    assert!(status_at(host, free).array_ready());
}

/// Returns the status byte whose transfer ends at `now`.
fn status_at(host: &Host, now: Time) -> Status {
    host.clone().target.status(now - cycles(2), DIE).unwrap()
}

/// Returns an idle die with `pages` pages programmed in block 0 of every plane, and the current
/// time.
fn filled(pages: u32) -> (Host, Time) {
    let mut host = Host::new(&part());
    for plane in 0..4 {
        host.fill(plane, 0, pages);
    }
    host.now += Time::from_ms(1);
    let now = host.now;
    (host, now)
}

const PAGE: u64 = 1 + 5 + 1;
const BLOCK: u64 = 1 + 3 + 1;

#[test]
fn a_read_is_ready_after_its_array_time_and_not_before() {
    let (mut host, start) = filled(1);
    host.read(row(0, 0, 0), C::ReadConfirm);
    let ready = start + cycles(PAGE) + READ;
    opens(&host, ready, C::Read);
    rests(&host, ready);
    let taken = host
        .target
        .issue(ready - PS, DIE, Cycle::DataOut { bytes: 1 });
    assert!(matches!(taken, Err(CommandError::Busy { .. })));
    host.now = ready;
    assert_eq!(host.data(), token(row(0, 0, 0)));
    assert_eq!(host.now, ready + DATA);
}

#[test]
fn a_program_starts_at_the_end_of_its_data() {
    let mut host = Host::new(&part());
    host.program(row(0, 0, 0), C::ProgramConfirm);
    let ready = cycles(PAGE) + DATA + PROGRAM;
    opens(&host, ready, C::Program);
    rests(&host, ready);
}

#[test]
fn an_erase_sends_only_row_cycles() {
    let mut host = Host::new(&part());
    host.erase(row(0, 0, 0), C::EraseConfirm);
    let ready = cycles(BLOCK) + ERASE;
    opens(&host, ready, C::Erase);
    rests(&host, ready);
}

#[test]
fn a_cache_read_waits_for_the_array_then_for_the_registers() {
    let (mut host, start) = filled(4);
    host.read(row(0, 0, 0), C::ReadConfirm);
    let first = start + cycles(PAGE) + READ;
    opens(&host, first, C::ReadCache);
    host.wait().command(C::ReadCache);
    let second = first + CYCLE + MOVE;
    opens(&host, second, C::ReadCache);
    rests(&host, second + READ);
    // No data is read out: the next page has to wait for the array.
    host.wait().command(C::ReadCache);
    let third = second + READ + MOVE;
    opens(&host, third, C::ReadCacheEnd);
    rests(&host, third + READ);
    host.wait().command(C::ReadCacheEnd);
    let end = third + READ + MOVE;
    opens(&host, end, C::Read);
    rests(&host, end);
}

#[test]
fn the_bus_limits_a_cache_read_if_it_is_slower_than_the_array() {
    let mut slow = part();
    slow.timing.read_ns = 20_000.into();
    let mut host = Host::new(&slow);
    host.fill(0, 0, 2);
    host.read(row(0, 0, 0), C::ReadConfirm);
    host.wait().command(C::ReadCache);
    host.wait();
    let start = host.now;
    assert_eq!(host.data(), token(row(0, 0, 0)));
    host.command(C::ReadCacheEnd);
    opens(&host, start + DATA + CYCLE + MOVE, C::Read);
}

#[test]
fn a_random_cache_read_first_moves_the_previous_page() {
    let (mut host, start) = filled(3);
    host.read(row(1, 0, 0), C::ReadConfirm);
    host.wait().read(row(1, 0, 2), C::ReadCache);
    let ready = start + cycles(PAGE) + READ + cycles(PAGE) + MOVE;
    opens(&host, ready, C::ReadCacheEnd);
    rests(&host, ready + READ);
}

#[test]
fn a_cache_program_frees_the_cache_register_when_it_is_empty() {
    let mut host = Host::new(&part());
    host.program(row(0, 0, 0), C::ProgramCache);
    let begun = cycles(PAGE) + DATA;
    opens(&host, begun + MOVE, C::Program);
    rests(&host, begun + PROGRAM);
    // The second page arrives long before the array has programmed the first.
    host.wait().program(row(0, 0, 1), C::ProgramCache);
    opens(&host, begun + PROGRAM + MOVE, C::Program);
    rests(&host, begun + PROGRAM * 2);
    host.wait().program(row(0, 0, 2), C::ProgramConfirm);
    opens(&host, begun + PROGRAM * 3, C::Read);
    rests(&host, begun + PROGRAM * 3);
}

#[test]
fn only_programs_are_accepted_during_a_cache_program() {
    let mut host = Host::new(&part());
    host.program(row(0, 0, 0), C::ProgramCache);
    let idle = cycles(PAGE) + DATA + PROGRAM;
    for other in [C::Read, C::Erase, C::ChangeReadColumn] {
        let issue = |at| host.clone().target.issue(at, DIE, other.into());
        assert!(matches!(issue(idle - PS), Err(CommandError::Broken { .. })));
        assert!(issue(idle).is_ok());
    }
}

#[test]
fn planes_are_queued_one_by_one_and_read_at_the_same_time() {
    let (mut host, start) = filled(1);
    host.read(row(0, 0, 0), C::ReadQueue);
    let queued = start + cycles(PAGE) + QUEUE;
    opens(&host, queued, C::Read);
    host.wait().read(row(2, 0, 0), C::ReadQueue);
    opens(&host, queued + cycles(PAGE) + QUEUE, C::Read);
    host.wait().read(row(1, 0, 0), C::ReadConfirm);
    opens(
        &host,
        queued + (cycles(PAGE) + QUEUE) + cycles(PAGE) + READ,
        C::Read,
    );
}

#[test]
fn a_multi_plane_program_takes_one_transfer_per_plane_and_one_program_time() {
    let mut host = Host::new(&part());
    host.program(row(3, 0, 0), C::ProgramQueue);
    let queued = cycles(PAGE) + DATA + QUEUE;
    opens(&host, queued, C::Program);
    assert!(status_at(&host, queued - PS).array_ready());
    host.wait().program(row(0, 1, 0), C::ProgramConfirm);
    opens(&host, queued + cycles(PAGE) + DATA + PROGRAM, C::Program);
}

#[test]
fn a_multi_plane_erase_takes_one_erase_time() {
    let mut host = Host::new(&part());
    host.erase(row(3, 0, 0), C::EraseQueue);
    let queued = cycles(BLOCK) + QUEUE;
    opens(&host, queued, C::Erase);
    host.wait().erase(row(0, 1, 0), C::EraseConfirm);
    opens(&host, queued + cycles(BLOCK) + ERASE, C::Erase);
}

#[test]
fn a_multi_plane_cache_read_moves_the_pages_of_all_planes_at_once() {
    let (mut host, start) = filled(3);
    host.read(row(0, 0, 0), C::ReadQueue);
    host.wait().read(row(1, 0, 0), C::ReadConfirm);
    let first = start + cycles(PAGE) + QUEUE + cycles(PAGE) + READ;
    opens(&host, first, C::ReadCache);
    host.wait().command(C::ReadCache);
    let second = first + CYCLE + MOVE;
    opens(&host, second, C::Read);
    // A random cache read follows: its first plane is queued while the array still reads.
    host.wait().read(row(0, 0, 2), C::ReadQueue);
    opens(&host, second + cycles(PAGE) + QUEUE, C::Read);
    rests(&host, second + READ);
    host.wait().read(row(1, 0, 2), C::ReadCache);
    let third = second + READ + MOVE;
    opens(&host, third, C::ReadCacheEnd);
    host.wait().command(C::ReadCacheEnd);
    opens(&host, third + READ + MOVE, C::Program);
}

#[test]
fn a_multi_plane_cache_program_queues_planes_while_the_array_works() {
    let mut host = Host::new(&part());
    host.program(row(0, 0, 0), C::ProgramQueue);
    host.wait().program(row(1, 0, 0), C::ProgramCache);
    let begun = (cycles(PAGE) + DATA) * 2 + QUEUE;
    opens(&host, begun + MOVE, C::Program);
    host.wait().program(row(0, 0, 1), C::ProgramQueue);
    let queued = begun + MOVE + cycles(PAGE) + DATA + QUEUE;
    opens(&host, queued, C::Program);
    rests(&host, begun + PROGRAM);
    host.wait().program(row(1, 0, 1), C::ProgramCache);
    opens(&host, begun + PROGRAM + MOVE, C::Program);
    rests(&host, begun + PROGRAM * 2);
}

#[test]
fn copyback_transfers_no_data_over_the_bus() {
    let (mut host, start) = filled(1);
    host.read(row(0, 0, 0), C::CopybackRead);
    let read = start + cycles(PAGE) + READ;
    opens(&host, read, C::CopybackProgram);
    host.wait().copy_to(row(0, 1, 0), C::ProgramConfirm);
    opens(&host, read + cycles(PAGE) + PROGRAM, C::Read);
}

#[test]
fn a_multi_plane_copyback_takes_one_read_and_one_program_time() {
    let (mut host, start) = filled(1);
    host.read(row(0, 0, 0), C::ReadQueue);
    host.wait().read(row(1, 0, 0), C::CopybackRead);
    let read = start + cycles(PAGE) + QUEUE + cycles(PAGE) + READ;
    opens(&host, read, C::CopybackProgram);
    host.wait().copy_to(row(0, 1, 0), C::ProgramQueue);
    opens(&host, read + cycles(PAGE) + QUEUE, C::CopybackProgram);
    host.wait().copy_to(row(1, 1, 0), C::ProgramConfirm);
    let programmed = read + cycles(PAGE) + QUEUE + cycles(PAGE) + PROGRAM;
    opens(&host, programmed, C::Read);
    rests(&host, programmed);
}

#[test]
fn a_suspended_program_resumes_where_it_stopped_after_its_latencies() {
    let (mut host, start) = filled(1);
    host.program(row(0, 1, 0), C::ProgramConfirm);
    let begun = start + cycles(PAGE) + DATA;
    host.now = begun + Time::from_us(100);
    host.command(C::ProgramSuspend);
    let stopped = begun + Time::from_us(100) + CYCLE;
    let idle = stopped + PROGRAM_SUSPEND;
    opens(&host, idle, C::Read);
    rests(&host, idle);
    host.wait().read(row(1, 0, 0), C::ReadConfirm);
    let read = idle + cycles(PAGE) + READ;
    opens(&host, read, C::ProgramResume);
    host.wait().command(C::ProgramResume);
    let left = PROGRAM - Time::from_us(100) - CYCLE;
    let end = read + CYCLE + RESUME + left;
    opens(&host, end, C::Read);
    rests(&host, end);
    // The program is suspended a second time.
    host.now = end - Time::from_us(50);
    host.command(C::ProgramSuspend);
    let idle = end - Time::from_us(50) + CYCLE + PROGRAM_SUSPEND;
    opens(&host, idle, C::ProgramResume);
    host.wait().command(C::ProgramResume);
    let left = Time::from_us(50) - CYCLE;
    opens(&host, idle + CYCLE + RESUME + left, C::Read);
}

#[test]
fn an_erase_is_suspended_only_if_more_than_the_suspend_latency_is_left() {
    let mut host = Host::new(&part());
    host.erase(row(0, 0, 0), C::EraseConfirm);
    let end = cycles(BLOCK) + ERASE;
    // When the command ends, exactly the suspend latency of the erase is left, so it has no effect.
    let mut late = host.clone();
    late.now = end - ERASE_SUSPEND - CYCLE;
    late.command(C::EraseSuspend);
    opens(&late, end, C::Read);
    // One picosecond earlier, the command has an effect.
    host.now = end - ERASE_SUSPEND - CYCLE - PS;
    host.command(C::EraseSuspend);
    let idle = end - PS;
    opens(&host, idle, C::EraseResume);
    host.wait().command(C::EraseResume);
    opens(&host, idle + CYCLE + RESUME + ERASE_SUSPEND + PS, C::Read);
}

#[test]
fn two_pages_of_a_cache_program_are_suspended_together() {
    let mut host = Host::new(&part());
    host.program(row(0, 0, 0), C::ProgramCache);
    let begun = host.now;
    host.wait().program(row(0, 0, 1), C::ProgramConfirm);
    let end = begun + PROGRAM * 2;
    opens(&host, end, C::Program);
    let stopped = host.now + CYCLE;
    host.command(C::ProgramSuspend);
    let idle = stopped + PROGRAM_SUSPEND;
    opens(&host, idle, C::ProgramResume);
    host.wait().command(C::ProgramResume);
    opens(&host, idle + CYCLE + RESUME + end.since(stopped), C::Read);
}

#[test]
fn the_duration_of_a_reset_depends_on_the_aborted_operation() {
    // ONFI tRST is 5, 10 or 500 us.
    let after = |begin: fn(&mut Host), time: Time| {
        let (mut host, _) = filled(2);
        begin(&mut host);
        let issued = host.now;
        host.command(C::Reset);
        opens(&host, issued + CYCLE + time, C::Read);
        rests(&host, issued + CYCLE + time);
    };
    after(|_| (), Time::from_us(5));
    after(
        |host| host.read(row(0, 0, 0), C::ReadConfirm),
        Time::from_us(5),
    );
    let program = |host: &mut Host| host.program(row(0, 1, 0), C::ProgramConfirm);
    after(program, Time::from_us(10));
    let cached = |host: &mut Host| {
        host.program(row(0, 1, 0), C::ProgramCache);
        host.wait();
    };
    after(cached, Time::from_us(10));
    after(
        |host| host.erase(row(0, 1, 0), C::EraseConfirm),
        Time::from_us(500),
    );
    let idle = |host: &mut Host| {
        host.erase(row(0, 1, 0), C::EraseConfirm);
        host.wait();
    };
    after(idle, Time::from_us(5));
    let in_between = |host: &mut Host| host.send([C::Read.into(), Cycle::Address(0)]);
    after(in_between, Time::from_us(5));
    let suspended = |host: &mut Host| {
        host.erase(row(0, 1, 0), C::EraseConfirm);
        host.command(C::EraseSuspend);
        host.wait();
    };
    after(suspended, Time::from_us(5));
}

#[test]
fn the_bus_carries_one_cycle_at_a_time_and_dies_are_independent() {
    let mut host = Host::new(&part());
    let other = wordline_nand::Die(1);
    host.command(C::Read);
    let early = host.target.issue(CYCLE - PS, other, C::Read.into());
    assert!(matches!(early, Err(CommandError::BusBusy { until, .. }) if until == CYCLE));
    assert!(host.target.issue(CYCLE, other, C::Read.into()).is_ok());

    let mut host = Host::new(&part());
    host.erase(row(0, 0, 0), C::EraseConfirm);
    host.die = other;
    host.erase(row(0, 0, 0), C::EraseConfirm);
    assert_eq!(host.target.ready_at(DIE), cycles(BLOCK) + ERASE);
    assert_eq!(host.target.ready_at(other), cycles(BLOCK) * 2 + ERASE);
}

#[test]
fn program_time_depends_on_page_type() {
    let mut mlc = part();
    mlc.cell = two_bits();
    mlc.timing.program_ns = wordline_nand::PerLevel::Each(vec![250_000, 2_200_000]);
    let levels = |page| wordline_nand::PageTypes::level(&mlc.cell, page, 6);
    let mut host = Host::new(&mlc);
    for page in 0..6 {
        host.wait().program(row(0, 0, page), C::ProgramConfirm);
        let time = [250, 2200][usize::from(levels(page))];
        let ready = host.now + Time::from_us(time);
        opens(&host, ready, C::Program);
    }
}

/// Returns the page types of two-bit cells.
fn two_bits() -> wordline_nand::Cell {
    let mut cells = wordline_nand::Cell::defaults().into_iter();
    cells
        .find(|cell| wordline_nand::PageTypes::levels(cell) == 2)
        .unwrap()
}

#[test]
fn an_invalid_data_sheet_is_rejected() {
    let refused = |change: &dyn Fn(&mut DataSheet)| {
        let mut part = part();
        change(&mut part);
        wordline_nand::Target::new(&part).unwrap_err().to_string()
    };
    assert!(refused(&|part| part.geometry.planes_per_die = 0).contains("planes_per_die"));
    assert!(refused(&|part| part.timing.row_address_cycles = 0).contains("row_address_cycles"));
    assert!(refused(&|part| part.timing.address_cycles = 17).contains("address_cycles"));
    assert!(refused(&|part| part.timing.erase_ns = u64::MAX).contains("erase_ns"));
    for rate in [0.0, -40.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(
            refused(&|part| part.timing.bus_mt_per_s = rate),
            "bus_mt_per_s is out of range; give a finite number above 0"
        );
    }
    // The data rate is so low that a page transfer would take too long.
    assert!(refused(&|part| part.timing.bus_mt_per_s = 1e-300).contains("longer than"));
    for ratio in [-0.1, 0.91, 5.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            refused(&|part| part.timing.jitter_ratio = ratio),
            "jitter_ratio is out of range; give a number from 0 to 0.9"
        );
    }
    assert!(refused(&|part| part.geometry.blocks_per_plane = u32::MAX).contains("pages"));
}
