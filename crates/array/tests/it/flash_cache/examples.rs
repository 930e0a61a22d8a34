//! Worked examples of Xia 2017, figures 2 and 7, on the device of the figures: four blocks of four
//! pages, three of which the queue fills.

use serde_json::{Value, json};
use wordline_block::Op;

use super::{Run, before_disk, flash};

/// Misses, revived pages, programs, evicted pages, erases, moved pages and dropped pages.
type Counts = [u64; 7];

/// Creates a cache on four blocks of four pages, with a queue of 12 pages and GC that erases
/// without moves. The pages `before` have been read.
fn printed(gc: Value, suspected_queue: bool, before: &[u64]) -> Run {
    let mut gc = gc;
    gc["own_block"] = false.into();
    gc["reclaim"] = "zero-migration".into();
    gc["hard_free_blocks"] = 0.into();
    let flash = flash(4, 4, json!({"over_provisioning_ratio": 0.25, "gc": gc}));
    let table = json!({"suspected_queue": suspected_queue, "reply": "collection"});
    let mut run = Run::new(before_disk(&flash, table, 64));
    run.store.verify();
    read(&mut run, before);
    run
}

/// Reads single pages in order. Returns the counts of these reads.
fn read(run: &mut Run, pages: &[u64]) -> Counts {
    let counts = |run: &Run| {
        let (figures, residents) = (run.store.figures(), run.store.residents().counts());
        [
            figures.misses,
            figures.suspected_hits,
            figures.fills,
            residents.evicted,
            run.observations.erases,
            run.observations.moves,
            residents.dropped,
        ]
    };
    let before = counts(run);
    for page in pages {
        run.serve(Op::Read, *page, 1);
        run.audit();
    }
    let after = counts(run);
    std::array::from_fn(|place| after[place] - before[place])
}

/// Figure 2: LPN 0 is at PPN 3 and LPN 1 at PPN 6, both the oldest, and the fourth block is empty.
/// Reads of 15, 23 and 12 miss and fill three pages of that block. They evict pages 0 and 1, which
/// are still in flash: with a suspected queue the pages are revived, and without one they miss. The
/// fifth miss then finds no free page.
#[test]
fn evicted_pages_are_revived_on_four_blocks() {
    let placed = [30, 31, 32, 0, 33, 34, 1, 35, 36, 37, 38, 39];
    let recent = [31, 32, 33, 34, 35, 36, 37, 38, 39, 30];
    let before = [&placed[..], &recent].concat();
    let requests = [15, 23, 12, 0, 1];
    let gc = json!({"start_free_blocks": 0});
    let mut aware = printed(gc.clone(), true, &before);
    assert_eq!(read(&mut aware, &requests), [3, 2, 3, 5, 0, 0, 0]);
    assert_eq!(aware.store.residents().suspected(), 3);
    let mut plain = printed(gc, false, &before);
    // LPN 31 and 32 were evicted too, from the block of LPN 0, which has one page left to drop.
    assert_eq!(read(&mut plain, &requests), [5, 0, 5, 5, 1, 0, 1]);
}

/// Figure 7: of three full blocks, the one with LPN 15 and 0 has the most invalid pages, two, when
/// the active block becomes full. It is erased and both pages are dropped; their next reads miss,
/// and the pages are inserted without an eviction.
#[test]
fn a_victim_is_erased_without_moves_on_four_blocks() {
    let placed = [20, 21, 22, 23, 24, 25, 26, 27, 15, 30, 0, 31];
    let recent = [20, 24, 21, 22, 23, 25, 26, 27, 15, 0];
    let before = [&placed[..], &recent].concat();
    let gc = json!({"start_free_blocks": 1, "check": "full-block"});
    let mut run = printed(gc, false, &before);
    assert_eq!(read(&mut run, &[40, 41, 42, 43]), [4, 0, 4, 4, 1, 0, 2]);
    assert_eq!(read(&mut run, &[15, 0]), [2, 0, 2, 0, 0, 0, 0]);
}
