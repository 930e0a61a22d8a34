//! Units of metrics, derived from their names.

/// Returns the unit of a metric, from the end of its name.
pub(crate) fn unit(name: &str) -> &'static str {
    const UNITS: [(&str, &str); 9] = [
        ("_ns", "ns"),
        ("_us", "us"),
        ("_ms", "ms"),
        ("_per_cpu_s", "1/s"),
        ("_mb_per_s", "MB/s"),
        ("_s", "s"),
        ("iops", "1/s"),
        ("_mj", "mJ"),
        ("bytes", "B"),
    ];
    if name.ends_with("bytes_per_touched_page") {
        return "B";
    }
    let unit = UNITS.iter().find(|(end, _)| name.ends_with(end));
    unit.map_or("", |(_, unit)| unit)
}
