//! Checks the `[buffer]` table.

use wordline_dram_buffer::Plan;
use wordline_dram_buffer::config::Buffer;
use wordline_kernel::Time;

use super::needed;
use crate::ConfigError;

/// Returns the plan of the DRAM buffer; `None` if its capacity is 0.
pub(super) fn buffer(
    config: &Buffer,
    page_bytes: u32,
    watches_balance: bool,
) -> Result<Option<Plan>, ConfigError> {
    let pages = (u64::from(config.capacity_kib) * 1024 / u64::from(page_bytes)) as u32;
    if config.capacity_kib == 0 {
        return Ok(None);
    }
    if pages == 0 {
        return Err(ConfigError::rule(
            "buffer.capacity_kib",
            config.capacity_kib,
            format!("the buffer is smaller than a page of {page_bytes} bytes"),
            "give at least the size of a page, or 0 for no buffer",
        )
        .with(&["nand.geometry.page_bytes"]));
    }
    if !Plan::takes(&config.replacement) {
        return Err(ConfigError::rule(
            "buffer.replacement",
            config.replacement.name(),
            format!(
                "no device can use this policy: it {}",
                needed(&config.replacement)
            ),
            "choose another policy; `wordline cache` simulates this one over a trace",
        ));
    }
    let batch_pages = batch_pages(config, pages, page_bytes)?;
    Ok(Some(Plan {
        pages,
        replacement: config.replacement.clone(),
        write_through: config.write_through,
        capacitors: config.capacitors,
        ignores_flush: config.ignores_flush,
        batch_pages,
        read_ahead: config.read_ahead.policy().pages(),
        idle_flush: (config.idle_flush_ms > 0.0)
            .then(|| Time::from_ps((config.idle_flush_ms * 1e9).round() as u64)),
        watches_balance,
        access: Time::from_ns(config.access_ns.into()),
        // A byte takes 1e6 / (MB/s) picoseconds. The rate is stored in thousandths, so that
        // rounding is negligible.
        port: ((config.mb_per_s * 1e3).round() as u64, 1_000_000_000),
    }))
}

/// Returns the number of pages that are destaged together; 0 if they are destaged one by one.
fn batch_pages(config: &Buffer, pages: u32, page_bytes: u32) -> Result<u32, ConfigError> {
    let Some(bytes) = config.flush.policy().batch_bytes() else {
        return Ok(0);
    };
    let batch = (bytes / u64::from(page_bytes)) as u32;
    if batch == 0 || batch > pages / 2 {
        let reason = if batch == 0 {
            format!("the batch is smaller than a page of {page_bytes} bytes")
        } else {
            format!(
                "the batch is larger than half of the buffer, which has {pages} pages of {page_bytes} bytes"
            )
        };
        return Err(ConfigError::rule(
            "buffer.flush.batches.batch_kib",
            bytes / 1024,
            reason,
            "give at least a page, and at most half of buffer.capacity_kib",
        )
        .with(&["buffer.capacity_kib", "nand.geometry.page_bytes"]));
    }
    Ok(batch)
}
