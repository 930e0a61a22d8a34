//! The `[buffer]` table.

use wordline_buffer::Plan;
use wordline_device::config::Buffer;
use wordline_kernel::Time;

use crate::ConfigError;

/// The DRAM buffer; none if it holds nothing.
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
            format!("a page has {page_bytes} bytes, and the buffer holds whole pages"),
            "give room for one page at least, or 0 for no buffer",
        )
        .with(&["nand.geometry.page_bytes"]));
    }
    if !Plan::takes(&config.replacement) {
        return Err(ConfigError::rule(
            "buffer.replacement",
            config.replacement.name(),
            "it is a ceiling for comparison: it knows the future, or has no size",
            "take another; `wordline cache` runs it over a trace",
        ));
    }
    Ok(Some(Plan {
        pages,
        replacement: config.replacement.clone(),
        write_through: config.write_through,
        capacitors: config.capacitors,
        watches_balance,
        access: Time::from_ns(config.access_ns.into()),
        // A byte takes 1e6 / MB/s picoseconds; in thousandths, so that no rate is rounded much.
        port: ((config.mb_per_s * 1e3).round() as u64, 1_000_000_000),
    }))
}
