//! Behaviour of the command interface: accepted and refused cycles, and the data that comes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test code

use crate::host;

use host::{DIE, Host, REGISTER, part, row, token};
use wordline_kernel::Time;
use wordline_nand::Command as C;
use wordline_nand::command::Rule;
use wordline_nand::die::State;
use wordline_nand::{Block, Command, CommandError, Cycle, DataSheet, Die, PlaneRule, Ppn};
use wordline_nand::{Status, Violation};

/// Returns a host whose part has the first `pages` pages of block 0 programmed in every plane.
fn filled(part: &DataSheet, pages: u32) -> Host {
    let mut host = Host::new(part);
    for plane in 0..4 {
        host.fill(plane, 0, pages);
    }
    host
}

fn status(host: &mut Host) -> Status {
    let status = host.target.status(host.now, host.die).unwrap();
    host.now = host.target.bus_free();
    status
}

/// Returns block `block` of plane `plane` of die 0; blocks are numbered over two dies of four
/// planes.
const fn block(plane: u32, block: u32) -> Block {
    Block(block * 8 + plane)
}

const fn page(plane: u32, in_plane: u32, page: u32) -> Ppn {
    Ppn(block(plane, in_plane).0 * 6 + page)
}

const DATA: Cycle = Cycle::DataOut { bytes: REGISTER };

#[test]
fn page_reads_back_as_written() {
    let mut host = filled(&part(), 3);
    for plane in 0..4 {
        for page in 0..3 {
            host.wait().read(row(plane, 0, page), C::ReadConfirm);
            assert_eq!(host.wait().data(), token(row(plane, 0, page)));
        }
    }
}

#[test]
fn cache_read_outputs_the_page_before_the_one_being_read() {
    let mut host = filled(&part(), 6);
    host.read(row(2, 0, 1), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(2, 0, 1)));
    for page in 2..6 {
        host.wait().command(C::ReadCache);
        assert_eq!(host.wait().data(), token(row(2, 0, page - 1)));
    }
    // A random cache read goes back to page 0; the previous page is output first.
    host.read(row(2, 0, 0), C::ReadCache);
    assert_eq!(host.wait().data(), token(row(2, 0, 5)));
    host.command(C::ReadCacheEnd);
    assert_eq!(host.wait().data(), token(row(2, 0, 0)));
    assert_eq!(host.target.state(host.now, DIE), Some(State::Idle));
}

#[test]
fn multi_plane_cache_read_outputs_every_plane() {
    let mut host = filled(&part(), 2);
    host.read(row(3, 0, 0), C::ReadQueue);
    host.wait().read(row(1, 0, 0), C::ReadConfirm);
    host.wait().command(C::ReadCache);
    host.wait();
    for (end, page) in [(true, 0), (false, 1)] {
        for plane in [1, 3] {
            host.select(plane);
            assert_eq!(host.data(), token(row(plane, 0, page)));
        }
        if end {
            host.command(C::ReadCacheEnd);
            host.wait();
        }
    }
    // Plane 0 was not read.
    host.select(0);
    assert_eq!(host.broken(vec![DATA]), Rule::Empty { plane: 0 });
}

#[test]
fn the_plane_addressed_last_outputs_data_after_a_multi_plane_read() {
    let mut host = filled(&part(), 1);
    host.read(row(3, 0, 0), C::ReadQueue);
    host.wait().read(row(1, 0, 0), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(1, 0, 0)));
}

#[test]
fn a_page_is_output_once_until_a_column_is_selected() {
    let mut host = filled(&part(), 1);
    host.read(row(0, 0, 0), C::ReadConfirm);
    host.wait().send([Cycle::DataOut { bytes: 2000 }]);
    host.send([Cycle::DataOut { bytes: 112 }]);
    let column = |host: &Host| {
        let mut cycles = vec![C::ChangeReadColumn.into()];
        cycles.extend(host.target.addressing().column(64));
        cycles.push(C::ChangeReadColumnConfirm.into());
        cycles
    };
    host.send(column(&host));
    assert_eq!(host.data(), token(row(0, 0, 0)));
    let over = Rule::TooMuchData {
        bytes: 2113,
        register: 2112,
    };
    assert_eq!(host.broken(vec![Cycle::DataOut { bytes: 1 }]), over);
}

#[test]
fn cache_programmed_pages_keep_their_addresses() {
    let mut host = Host::new(&part());
    for page in 0..4 {
        let confirm = [C::ProgramCache, C::ProgramConfirm][usize::from(page == 3)];
        for plane in [2, 0, 3] {
            host.wait().program(row(plane, 1, page), C::ProgramQueue);
        }
        host.wait().program(row(1, 1, page), confirm);
    }
    for place in 0..4 {
        for offset in 0..4 {
            let content = host.target.cells().content(page(place, 1, offset));
            assert_eq!(content, Some(token(row(place, 1, offset))));
        }
    }
    host.wait().read(row(1, 1, 2), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(1, 1, 2)));
}

#[test]
fn copyback_copies_the_content_of_each_plane() {
    let mut host = filled(&part(), 2);
    host.read(row(2, 0, 1), C::ReadQueue);
    host.wait().read(row(0, 0, 1), C::CopybackRead);
    host.wait().copy_to(row(0, 3, 0), C::ProgramQueue);
    host.wait().copy_to(row(2, 4, 0), C::ProgramConfirm);
    host.wait().read(row(2, 4, 0), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(2, 0, 1)));
    host.read(row(0, 3, 0), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(0, 0, 1)));
    // The data register is now empty: a second copy needs a second read.
    assert_eq!(
        host.broken(vec![C::CopybackProgram.into()]),
        Rule::NothingToCopy
    );
}

#[test]
fn copyback_stays_in_its_plane_and_keeps_the_cache_register() {
    let mut host = filled(&part(), 2);
    host.read(row(2, 0, 0), C::ReadConfirm);
    host.wait().read(row(2, 0, 1), C::CopybackRead);
    assert_eq!(host.wait().data(), token(row(2, 0, 0)));
    let mut copy = host.addressed(C::CopybackProgram, row(1, 1, 0), C::ProgramConfirm);
    copy.pop();
    assert_eq!(host.broken(copy), Rule::NothingToCopyIn { plane: 1 });
}

#[test]
fn pages_are_programmed_in_order_and_once_per_erase() {
    let broken = |place, wanted: fn(String) -> Violation, address: &str| {
        let mut host = filled(&part(), 2);
        let rule = host.broken(host.program_cycles(place, C::ProgramConfirm));
        assert_eq!(rule, Rule::Array(wanted(address.to_owned())));
        assert_eq!(host.target.cells().array.programmed(block(1, 0)), 2);
    };
    broken(
        row(1, 0, 1),
        |address| Violation::NotErased { address },
        "die 0, plane 1, block 0, page 1",
    );
    let out_of_order = |address| Violation::OutOfOrder {
        address,
        expected: 2,
    };
    broken(
        row(1, 0, 3),
        out_of_order,
        "die 0, plane 1, block 0, page 3",
    );
    let mut host = filled(&part(), 2);
    host.erase(row(1, 0, 0), C::EraseConfirm);
    host.wait().program(row(1, 0, 0), C::ProgramConfirm);
    assert_eq!(host.target.cells().content(page(1, 0, 1)), None);
}

#[test]
fn erased_page_cannot_be_read() {
    let mut host = filled(&part(), 2);
    let refused = host.issue(host.addressed(C::Read, row(1, 0, 2), C::ReadConfirm));
    let address = "die 0, plane 1, block 0, page 2".to_owned();
    let violation = refused.unwrap_err().violation().cloned();
    assert_eq!(violation, Some(Violation::NotProgrammed { address }));
}

#[test]
fn a_page_accepts_the_number_of_partial_programs_of_the_part() {
    for bears in [1, 4] {
        let mut part = part();
        part.partial_programs = bears;
        let mut host = Host::new(&part);
        for _ in 0..bears {
            host.wait().program(row(0, 0, 0), C::ProgramConfirm);
        }
        let again = host.program_cycles(row(0, 0, 0), C::ProgramConfirm);
        let rule = host.wait().broken(again);
        let address = "die 0, plane 0, block 0, page 0".to_owned();
        let violation = match bears {
            1 => Violation::NotErased { address },
            programs => Violation::TooManyPrograms { address, programs },
        };
        assert_eq!(rule, Rule::Array(violation));
    }
}

#[test]
fn one_worn_out_block_stops_the_whole_multi_plane_erase() {
    let mut part = part();
    part.endurance_cycles = 2;
    let mut host = Host::new(&part);
    for _ in 0..2 {
        host.wait().erase(row(0, 0, 0), C::EraseConfirm);
    }
    host.wait().erase(row(1, 0, 0), C::EraseQueue);
    let erase = host.addressed(C::Erase, row(0, 0, 0), C::EraseConfirm);
    let rule = host.wait().broken(erase);
    let address = "die 0, plane 0, block 0".to_owned();
    assert_eq!(rule, Rule::Array(Violation::WornOut { address, erases: 2 }));
    assert_eq!(host.target.cells().array.erases()[block(1, 0).index()], 0);
}

#[test]
fn one_invalid_page_stops_the_whole_multi_plane_program() {
    let mut host = Host::new(&part());
    host.fill(1, 0, 1);
    host.program(row(0, 0, 0), C::ProgramQueue);
    let second = host.program_cycles(row(1, 0, 0), C::ProgramConfirm);
    let rule = host.wait().broken(second);
    assert!(matches!(rule, Rule::Array(Violation::NotErased { .. })));
    assert_eq!(host.target.cells().array.programmed(block(0, 0)), 0);
}

#[test]
fn multi_plane_commands_obey_the_plane_rule_of_the_part() {
    let second = |rule, first: Command, queue, place| {
        let mut part = part();
        part.plane_rule = rule;
        let mut host = filled(&part, 2);
        let mut cycles = host.addressed(first, row(0, 0, 1), queue);
        if first == C::Program {
            cycles = host.program_cycles(row(0, 0, 1), queue);
        }
        host.send(cycles);
        let mut cycles = host.addressed(first, place, queue);
        cycles.pop();
        host.wait().issue(cycles)
    };
    for (first, queue) in [(C::Read, C::ReadQueue), (C::Program, C::ProgramQueue)] {
        let issue = |rule, place| second(rule, first, queue, place);
        assert!(issue(PlaneRule::PageOffset, row(1, 3, 1)).is_ok());
        assert!(issue(PlaneRule::PageOffset, row(1, 0, 0)).is_err());
        assert!(issue(PlaneRule::PageAndBlockOffset, row(1, 0, 1)).is_ok());
        assert!(issue(PlaneRule::PageAndBlockOffset, row(1, 3, 1)).is_err());
        assert!(issue(PlaneRule::PageOffset, row(0, 0, 1)).is_err());
    }
    // Erases have no page offset.
    let issue = |rule, place| second(rule, C::Erase, C::EraseQueue, place);
    assert!(issue(PlaneRule::PageOffset, row(1, 3, 5)).is_ok());
    assert!(issue(PlaneRule::PageAndBlockOffset, row(1, 0, 5)).is_ok());
    assert!(issue(PlaneRule::PageAndBlockOffset, row(1, 3, 1)).is_err());
    assert!(issue(PlaneRule::PageOffset, row(0, 3, 1)).is_err());
}

#[test]
fn out_of_range_addresses_are_refused_at_their_last_cycle() {
    // A part of 6 pages, 4 planes and 5 blocks needs 3, 2 and 3 bits. A page has 2112 columns.
    let beyond = |place, column, field: &str| {
        let mut host = Host::new(&part());
        let mut cycles = vec![C::Read.into()];
        cycles.extend(host.target.addressing().page(place, column));
        let rule = host.broken(cycles);
        assert!(matches!(rule, Rule::Beyond { field: found, .. } if found == field));
    };
    beyond(row(0, 0, 6), 0, "page");
    beyond(row(0, 5, 0), 0, "block");
    beyond(row(0, 1 << 15, 0), 0, "block");
    beyond(row(0, 0, 0), 2112, "column");
}

#[test]
fn a_queued_multi_plane_read_accepts_no_other_command() {
    for other in [C::Program, C::Erase, C::ReadCache, C::ChangeReadColumn] {
        let mut host = filled(&part(), 1);
        host.read(row(0, 0, 0), C::ReadQueue);
        host.wait();
        assert_eq!(host.broken(vec![other.into()]), Rule::OutOfPlace);
    }
}

#[test]
fn a_program_requires_data_that_fits_the_register() {
    let mut host = Host::new(&part());
    let cycles = host.addressed(C::Program, row(0, 0, 0), C::ProgramConfirm);
    assert_eq!(host.broken(cycles), Rule::NoData);
    let mut host = Host::new(&part());
    let mut cycles = host.program_cycles(row(0, 0, 0), C::ProgramConfirm);
    cycles.pop();
    cycles.push(Cycle::DataIn {
        bytes: 1,
        content: 0,
    });
    assert!(matches!(host.broken(cycles), Rule::TooMuchData { .. }));
}

#[test]
fn a_cache_read_follows_a_read_and_ends_at_the_last_page_of_the_block() {
    let mut host = Host::new(&part());
    let nothing = Rule::NothingToContinue;
    assert_eq!(host.broken(vec![C::ReadCache.into()]), nothing);
    // A cache read is refused after the end of a cache read, after a copyback read, and after a
    // program in the same plane.
    let after = |prepare: fn(&mut Host)| {
        let mut host = filled(&part(), 2);
        host.read(row(0, 0, 0), C::ReadConfirm);
        host.wait();
        prepare(&mut host);
        host.wait().broken(vec![C::ReadCache.into()])
    };
    let ended = after(|host| {
        host.command(C::ReadCache);
        host.wait().command(C::ReadCacheEnd);
    });
    assert_eq!(ended, nothing);
    let copied = after(|host| host.read(row(1, 0, 0), C::CopybackRead));
    assert_eq!(copied, nothing);
    let programmed = after(|host| host.program(row(0, 0, 2), C::ProgramConfirm));
    assert_eq!(programmed, nothing);

    let mut host = filled(&part(), 6);
    host.read(row(0, 0, 5), C::ReadConfirm);
    let end = host.wait().broken(vec![C::ReadCache.into()]);
    assert!(matches!(end, Rule::EndOfBlock { page: 5, .. }));
}

#[test]
fn a_cache_read_keeps_its_planes_and_excludes_other_operations() {
    let open = || {
        let mut host = filled(&part(), 4);
        host.read(row(0, 0, 0), C::ReadConfirm);
        host.wait().command(C::ReadCache);
        host.wait();
        host
    };
    let mut host = open();
    let elsewhere = host.addressed(C::Read, row(1, 0, 2), C::ReadCache);
    assert_eq!(host.broken(elsewhere), Rule::OtherPlanes);
    let mut host = open();
    let plain = host.addressed(C::Read, row(0, 0, 2), C::ReadConfirm);
    assert_eq!(host.broken(plain), Rule::OutOfPlace);
    for other in [C::Program, C::Erase, C::CopybackProgram] {
        assert_eq!(open().broken(vec![other.into()]), Rule::OutOfPlace);
    }
}

#[test]
fn pages_of_a_suspended_operation_cannot_be_read() {
    let suspended = |erase: bool| {
        let mut host = filled(&part(), 2);
        if erase {
            host.erase(row(0, 0, 0), C::EraseConfirm);
            host.command(C::EraseSuspend);
        } else {
            host.program(row(0, 0, 2), C::ProgramConfirm);
            host.command(C::ProgramSuspend);
        }
        host.wait();
        host
    };
    for (erase, place) in [(true, row(0, 0, 1)), (false, row(0, 0, 2))] {
        let mut host = suspended(erase);
        let read = host.addressed(C::Read, place, C::ReadConfirm);
        assert!(matches!(host.broken(read), Rule::Suspended { .. }));
    }
    // Other pages can be read, and the operation completes.
    let mut host = suspended(false);
    host.read(row(0, 0, 1), C::ReadQueue);
    host.wait().read(row(1, 0, 1), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(1, 0, 1)));
    host.select(0);
    assert_eq!(host.data(), token(row(0, 0, 1)));
    host.command(C::ProgramResume);
    host.wait().read(row(0, 0, 2), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(0, 0, 2)));
    // Only the suspended operation can be resumed, and no other operation can start.
    for other in [C::ProgramResume, C::Program, C::Erase, C::ReadCache] {
        assert_eq!(suspended(true).broken(vec![other.into()]), Rule::OutOfPlace);
    }
}

#[test]
fn suspended_copyback_keeps_the_cache_register() {
    let mut host = filled(&part(), 2);
    host.read(row(0, 0, 0), C::CopybackRead);
    host.wait().copy_to(row(0, 1, 0), C::ProgramConfirm);
    host.command(C::ProgramSuspend);
    host.wait().read(row(0, 0, 1), C::ReadConfirm);
    host.wait().command(C::ProgramResume);
    assert_eq!(host.wait().data(), token(row(0, 0, 1)));
    // A program whose page came through the cache register empties it at its end.
    host.program(row(0, 2, 0), C::ProgramConfirm);
    host.command(C::ProgramSuspend);
    host.wait().read(row(0, 0, 1), C::ReadConfirm);
    host.wait().command(C::ProgramResume);
    assert_eq!(host.wait().broken(vec![DATA]), Rule::Empty { plane: 0 });
}

#[test]
fn suspension_is_limited_to_the_operations_and_count_of_the_part() {
    let mut able = part();
    able.suspend.most = 1;
    let mut host = Host::new(&able);
    host.erase(row(0, 0, 0), C::EraseConfirm);
    host.command(C::EraseSuspend);
    host.wait().command(C::EraseResume);
    let again = host.issue([C::EraseSuspend.into()]);
    assert!(matches!(again, Err(CommandError::Busy { .. })));

    let mut unable = part();
    unable.suspend.erase = false;
    let mut host = Host::new(&unable);
    host.erase(row(0, 0, 0), C::EraseConfirm);
    for suspend in [C::EraseSuspend, C::ProgramSuspend] {
        let refused = host.issue([suspend.into()]);
        assert!(matches!(refused, Err(CommandError::Busy { .. })));
    }
    assert!(!status(&mut host).failed());
    // An idle die has no operation to suspend.
    host.wait();
    assert_eq!(host.broken(vec![C::EraseSuspend.into()]), Rule::OutOfPlace);
}

#[test]
fn a_failed_die_reports_its_failure_and_waits_for_a_reset() {
    let mut host = filled(&part(), 1);
    assert!(!status(&mut host).failed());
    assert_eq!(host.broken(vec![Cycle::Command(0x42)]), Rule::Unknown);
    let failed = status(&mut host);
    assert!(failed.failed() && failed.ready() && failed.array_ready() && failed.writable());
    assert!(!failed.failed_before());
    for command in C::ALL {
        let mut host = host.clone();
        let taken = host.issue([(*command).into()]).is_ok();
        assert_eq!(taken, [C::Reset, C::ReadStatus].contains(command));
    }
    // The other die is unaffected.
    host.die = Die(1);
    host.program(row(0, 0, 0), C::ProgramConfirm);
    host.die = DIE;
    host.command(C::Reset);
    assert!(!status(&mut host).failed());
    host.wait().read(row(3, 0, 0), C::ReadConfirm);
    assert_eq!(host.wait().data(), token(row(3, 0, 0)));
}

#[test]
fn an_early_cycle_does_not_make_a_busy_die_fail() {
    let mut host = filled(&part(), 1);
    host.read(row(0, 0, 0), C::ReadConfirm);
    let early = host.issue([DATA]);
    assert!(matches!(early, Err(CommandError::Busy { .. })));
    assert!(!status(&mut host).failed());
    assert_eq!(host.wait().data(), token(row(0, 0, 0)));
}

#[test]
fn a_status_read_has_no_side_effect_and_is_valid_only_between_commands() {
    let mut host = filled(&part(), 2);
    host.read(row(0, 0, 0), C::ReadQueue);
    status(&mut host);
    host.wait();
    status(&mut host);
    host.read(row(1, 0, 0), C::ReadConfirm);
    host.wait();
    status(&mut host);
    host.command(C::ReadCache);
    host.wait();
    status(&mut host);
    assert_eq!(host.data(), token(row(1, 0, 0)));
    host.command(C::ReadCacheEnd);
    host.wait();
    let within = vec![C::Read.into(), C::ReadStatus.into()];
    assert_eq!(host.broken(within), Rule::OutOfPlace);
}

#[test]
fn a_reset_during_a_program_or_erase_loses_its_data() {
    let mut host = filled(&part(), 1);
    host.program(row(0, 0, 1), C::ProgramCache);
    host.wait().program(row(0, 0, 2), C::ProgramConfirm);
    // The first of the two programs ends before the reset, and the second does not.
    host.now = host.target.ready_at(DIE) - Time::from_us(1);
    host.command(C::Reset);
    let cells = host.target.cells();
    assert_eq!(cells.content(page(0, 0, 1)), Some(token(row(0, 0, 1))));
    assert_eq!(cells.content(page(0, 0, 2)), Some(0));
    assert_eq!(cells.array.programmed(block(0, 0)), 3);
    host.wait();
    assert_eq!(host.broken(vec![DATA]), Rule::Empty { plane: 0 });
    host.command(C::Reset);
    host.wait().erase(row(1, 0, 0), C::EraseConfirm);
    host.command(C::Reset);
    assert_eq!(host.target.cells().array.programmed(block(1, 0)), 0);
}

#[test]
fn an_error_states_the_cycle_the_die_and_the_remedy() {
    let mut host = filled(&part(), 2);
    host.read(row(0, 0, 0), C::ReadConfirm);
    let busy = host.issue([C::Erase.into()]).unwrap_err().to_string();
    assert!(busy.contains("60h Block Erase for die 0") && busy.contains("70h Read Status"));
    host.wait().command(C::ReadCache);
    let broken = host
        .wait()
        .issue([C::Erase.into()])
        .unwrap_err()
        .to_string();
    assert_eq!(
        broken,
        "60h Block Erase for die 0, which is in a cache read: the cycle is out of sequence; in this state \
         the die accepts data out, 31h Read Cache, 3Fh Read Cache End, 00h Read, \
         05h Change Read Column, 06h Change Read Column Enhanced, 70h Read Status, FFh Reset"
    );
    let none = host.target.issue(host.now, Die(2), C::Read.into());
    assert!(none.unwrap_err().to_string().contains("the package has 2"));
    let late = host.target.issue(Time::MAX, DIE, C::Read.into());
    assert!(matches!(late, Err(CommandError::Late { .. })));
}

#[test]
fn opcodes_convert_to_commands_and_back() {
    for code in 0..=u8::MAX {
        if let Ok(command) = Command::try_from(code) {
            assert_eq!(command.code(), code);
            assert!(C::ALL.contains(&command));
        }
    }
}
