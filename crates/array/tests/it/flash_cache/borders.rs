//! Border between the read list and the write list: before the first choice of the partition
//! policy, and while it moves.

use serde_json::{Value, json};
use wordline_block::Op;

use super::{Run, Shape, cached};

const SHAPE: Shape = Shape {
    blocks: 20,
    pages_per_block: 16,
    spare_ratio: 0.5,
    threshold: 16,
    own_block: false,
    summaries: false,
    spare_blocks: 0,
};
/// Pages of the cache.
const ROOM: u64 = 160;
/// Address of the first page that is read. Pages that are written have smaller addresses.
const READS: u64 = 10_000;

fn store(partition: &Value, group: u32) -> Run {
    let table = json!({
        "mode": "write-back",
        "journal": "none",
        "partition": partition,
        "destage": {"group_pages": group},
    });
    Run::new(cached(&SHAPE, "move", table, 1 << 20))
}

fn lens(run: &Run) -> (usize, usize) {
    let mut lens = run.store.residents().lens();
    (lens.next().unwrap(), lens.next().unwrap())
}

/// Serves requests of a page each until no work is left.
fn serve(run: &mut Run, op: Op, pages: impl IntoIterator<Item = u64>) {
    for page in pages {
        run.serve(op, page, 1);
    }
}

/// OP-FCL, section 6: the caches start empty, and only the initial over-provisioning is given.
#[test]
fn lists_share_all_pages_until_the_first_period_ends() {
    for name in ["rw-fcl", "op-fcl"] {
        let mut run = store(&json!({name: {"period_requests": 1_000}}), 1);
        serve(&mut run, Op::Write, 0..ROOM);
        assert_eq!(lens(&run), (0, ROOM as usize), "{name}");
        // A list that has pages evicts its own; the first page of the other list displaces one.
        serve(&mut run, Op::Write, ROOM..ROOM + 10);
        serve(&mut run, Op::Read, READS..READS + 10);
        assert_eq!(lens(&run), (1, ROOM as usize - 1), "{name}");
        assert_eq!(run.store.figures().destages[0].pages, 11, "{name}");
        let chosen = run.store.chosen();
        assert_eq!((chosen.reads, chosen.writes), (0, ROOM as u32));
        run.audit();
        let mut half = store(
            &json!({name: {"period_requests": 1_000, "read_ratio": 0.5}}),
            1,
        );
        serve(&mut half, Op::Write, 0..ROOM);
        assert_eq!(lens(&half), (0, ROOM as usize / 2), "{name}");
    }
}

/// OP-FCL, section 5: pages are evicted to increase over-provisioning, and in a full cache for new
/// pages. A move of the border requires neither, even if the store is idle.
#[test]
fn a_list_above_its_target_gives_up_pages_only_when_the_other_one_needs_them() {
    for group in [1, 8] {
        let mut run = store(
            &json!({"rw-fcl": {"period_requests": 480, "segments": 16}}),
            group,
        );
        serve(&mut run, Op::Read, READS..READS + 80);
        serve(&mut run, Op::Write, 0..80);
        assert_eq!(lens(&run), (80, 80));
        // Few pages are read again and most are written again, so that the model wants a longer
        // write list.
        for _ in 0..4 {
            serve(&mut run, Op::Read, READS + 70..READS + 80);
            serve(&mut run, Op::Write, 0..70);
        }
        let chosen = run.store.chosen();
        assert_eq!(run.store.figures().divisions, 1);
        assert!(chosen.writes > 90 && chosen.reads > 5, "{chosen:?}");
        assert_eq!(u64::from(chosen.reads + chosen.writes), ROOM);
        assert_eq!(lens(&run), (80, 80), "groups of {group}");
        let mut seen = (80, 80);
        for page in 80..u64::from(chosen.writes) {
            run.serve(Op::Write, page, 1);
            let (reads, writes) = lens(&run);
            assert_eq!(writes, page as usize + 1);
            let lost = seen.0 - reads;
            assert!(lost == 0 || reads + writes > ROOM as usize - group as usize);
            assert!(reads + writes <= ROOM as usize && lost <= group as usize);
            seen = (reads, writes);
        }
        assert_eq!(seen, (chosen.reads as usize, chosen.writes as usize));
        assert_eq!(run.store.figures().destages.map(|one| one.pages), [0, 0, 0]);
        // When both lists have their target lengths, the write list evicts its own pages.
        run.serve(Op::Write, 500, 1);
        assert_eq!(run.store.figures().destages[0].pages, u64::from(group));
        run.audit();
    }
}

/// Pages of the read list that are written move to the write list, so the read list shrinks.
#[test]
fn a_page_that_moves_between_the_lists_evicts_no_other_page() {
    let mut run = store(&json!({"rw-fcl": {"period_requests": 1_000}}), 1);
    serve(&mut run, Op::Read, READS..READS + 80);
    serve(&mut run, Op::Write, 0..80);
    serve(&mut run, Op::Write, READS..READS + 10);
    assert_eq!(lens(&run), (70, 90));
    assert_eq!(run.store.residents().counts().evicted, 0);
    run.audit();
}
