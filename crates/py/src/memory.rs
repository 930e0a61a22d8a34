//! Handles the exhaustion of memory.
//!
//! The memory of a run is estimated before it starts (`wordline_runner::memory`), and large tables
//! are allocated fallibly. Growth during a run cannot be fallible: Rust aborts the process if such
//! an allocation fails. The allocator therefore keeps a reserve. It releases the reserve when
//! such an allocation first fails, and work that checks [`wordline_kernel::memory::is_short`] then
//! ends with its results so far.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::prelude::*;
use serde_json::json;
use wordline_config::{Loaded, plan};
use wordline_kernel::memory::{is_dense, is_trying, set_short};
use wordline_memory::Limits;
use wordline_runner::memory::{Checks, estimate};

use crate::fail;

/// Memory that is kept as a reserve: much more than a run allocates between two checks.
const RESERVE: Layout = match Layout::from_size_align(64 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u8>(),
};
/// Message that is printed if an allocation fails even with the reserve.
const MESSAGE: &[u8] =
    b"error: out of memory; give the process more (ulimit -v, control group), or \
    lower nand.geometry.blocks_per_plane, requests or the sizes of caches\n";

/// Size of a large page on systems with 4 KiB pages. Bytes.
const LARGE_PAGE: usize = 2 << 20;

static RESERVED: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// System allocator with a reserve for allocations that are not fallible. If one fails even with
/// the reserve, the process ends with a message.
struct Reserving;

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

// SAFETY: every block comes from the system allocator and returns there with its layout. Nothing
// here allocates or unwinds.
unsafe impl GlobalAlloc for Reserving {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            // SAFETY: guaranteed by the caller.
            return refused(|| unsafe { System.alloc(layout) });
        }
        block
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            // SAFETY: guaranteed by the caller.
            return refused(|| unsafe { System.alloc_zeroed(layout) });
        }
        if layout.size() >= 2 * LARGE_PAGE && is_dense() {
            advise(block, layout.size());
        }
        block
    }
    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let moved = unsafe { System.realloc(block, layout, size) };
        if moved.is_null() {
            // SAFETY: guaranteed by the caller; a failed reallocation leaves the block unchanged.
            return refused(|| unsafe { System.realloc(block, layout, size) });
        }
        moved
    }
    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(block, layout) };
    }
}

/// Requests large pages for the aligned part of a block. They are allocated when the block is
/// written. Systems without large pages ignore the request.
#[cold]
#[cfg(target_os = "linux")]
fn advise(block: *mut u8, size: usize) {
    let lead = block.align_offset(LARGE_PAGE);
    let whole = size.saturating_sub(lead) / LARGE_PAGE * LARGE_PAGE;
    if whole > 0 {
        // SAFETY: the range is within the block, and the advice does not change its contents.
        unsafe { libc::madvise(block.add(lead).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_block: *mut u8, _size: usize) {}

/// Retries a failed allocation with the reserve.
#[cold]
fn refused(again: impl Fn() -> *mut u8) -> *mut u8 {
    if is_trying() {
        return null_mut();
    }
    if give_back() {
        set_short(true);
        let block = again();
        if !block.is_null() {
            return block;
        }
    }
    // An infallible allocation cannot report its failure.
    let _ = std::io::stderr().write_all(MESSAGE);
    // SAFETY: ends the process without running exit handlers.
    unsafe { libc::_exit(1) }
}

fn give_back() -> bool {
    let reserve = RESERVED.swap(null_mut(), Ordering::Relaxed);
    if !reserve.is_null() {
        // SAFETY: the reserve was allocated with this layout, and the swap made this the only owner.
        unsafe { System.dealloc(reserve, RESERVE) };
    }
    !reserve.is_null()
}

/// Prepares for work: clears the mark that memory ran out, and allocates the reserve if possible.
/// The reserve is never touched, so it only takes address space.
pub fn reserve() {
    set_short(false);
    if !RESERVED.load(Ordering::Relaxed).is_null() {
        return;
    }
    // SAFETY: the layout is not empty.
    let reserve = unsafe { System.alloc(RESERVE) };
    let before = RESERVED.swap(reserve, Ordering::Relaxed);
    if !before.is_null() {
        // SAFETY: the reserve was allocated with this layout, and the swap made this the only owner.
        unsafe { System.dealloc(before, RESERVE) };
    }
}

/// Error message of work that ended because memory ran out.
pub const SHORT_OF: &str = "memory ran out; give the process more (ulimit -v, control group), simulate \
    fewer requests (--max-requests), or leave out --requests (Python: requests=False)";

/// Returns the memory estimate of a run as JSON. The bytes are in addition to those that the
/// process already uses.
#[pyfunction]
pub fn config_memory(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    let loaded: Loaded = wordline_config::load(text, name, &overrides).map_err(fail)?;
    let plan = loaded.plan(0).map_err(fail)?;
    let estimate = estimate(&plan, Checks::default());
    let limits = Limits::now();
    let tables = estimate.tables().map(|(table, _)| {
        json!({
            "name": table.name,
            "reserved_bytes": table.reserved,
            "prepared_bytes": table.prepared,
            "most_bytes": table.most,
        })
    });
    let refusal = estimate.check(&limits).err();
    Ok(json!({
        "reserved_bytes": estimate.reserved(),
        "prepared_bytes": estimate.prepared(),
        "most_bytes": estimate.most(),
        "fill_ratio": plan.fill_ratio(),
        "overwrite_ratio": plan.ssds().map(overwrite_ratio).fold(0.0, f64::max),
        "tables": tables.collect::<Vec<_>>(),
        "refusal": refusal.map(|refusal| refusal.to_string()),
        "note": estimate.note(&limits),
    })
    .to_string())
}

/// Returns the number of random page writes before the run, as a multiple of the user pages.
/// Reaching steady state takes at least as many writes as the fill.
fn overwrite_ratio(ssd: &plan::Ssd) -> f64 {
    let precondition = &ssd.precondition;
    let settling = match precondition.settle {
        plan::Settle::No => 0,
        plan::Settle::Until { .. } => precondition.fill_pages,
    };
    let pages = precondition.overwrite_pages + u64::from(settling);
    pages as f64 / f64::from(ssd.device.ftl.user_pages.max(1))
}
