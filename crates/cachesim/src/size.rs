//! Parses cache sizes of the command line: `64MiB`, `4096p`, `0.01`, `1%`.

use std::fmt;
use std::str::FromStr;

use super::CacheError;

/// Size of a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Number of pages.
    Pages(u64),
    /// Number of bytes. Rounded down to whole pages.
    Bytes(u64),
    /// Share of the distinct pages of the trace, above 0.
    Share(f64),
}

/// Units of bytes.
const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

const REMEDY: &str = "give pages (4096p), bytes (64MiB, 1GB) or a share of the distinct pages \
                      (0.01, 1%)";

fn wrong(text: &str, reason: impl Into<String>) -> CacheError {
    CacheError::argument(format!("size `{text}`"), reason, REMEDY)
}

impl FromStr for Size {
    type Err = CacheError;
    fn from_str(text: &str) -> Result<Self, CacheError> {
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (digits, unit) = (&text[..end], text[end..].trim());
        let number: f64 = digits
            .parse()
            .map_err(|_| wrong(text, "the size does not begin with a number"))?;
        if number == 0.0 {
            return Err(wrong(text, "the size is 0"));
        }
        let bytes = UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit));
        match (unit, bytes) {
            ("", _) if digits.contains('.') => share(text, number),
            ("", _) => Err(wrong(text, "the unit is missing")),
            ("%", _) => share(text, number / 100.0),
            ("p" | "page" | "pages", _) if digits.contains('.') => {
                Err(wrong(text, "the number of pages is not whole"))
            }
            ("p" | "page" | "pages", _) => digits
                .parse()
                .map(Self::Pages)
                .map_err(|_| wrong(text, "the size is too large")),
            (_, Some((_, unit))) => {
                let bytes = number * *unit as f64;
                if bytes >= (1_u64 << 60) as f64 {
                    return Err(wrong(text, "the size is too large"));
                }
                Ok(Self::Bytes(bytes.round() as u64))
            }
            _ => Err(wrong(text, format!("unknown unit `{unit}`"))),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Pages(pages) => write!(f, "{pages}p"),
            Self::Bytes(bytes) => {
                let units = UNITS.iter().rev();
                let whole = units.filter(|(_, unit)| bytes.is_multiple_of(*unit));
                let shortest = whole.map(|(name, unit)| format!("{}{name}", bytes / unit));
                let text = shortest.min_by_key(String::len);
                write!(f, "{}", text.unwrap_or_else(|| format!("{bytes}B")))
            }
            Self::Share(share) => write!(f, "{}%", (share * 1e6).round() / 1e4),
        }
    }
}

fn share(text: &str, share: f64) -> Result<Size, CacheError> {
    if share > 1.0 {
        return Err(wrong(text, "the share is above 1 (100 %)"));
    }
    Ok(Size::Share(share))
}

impl Size {
    /// Returns the number of pages of a cache of this size, for a trace with `footprint` distinct
    /// pages. A share is rounded down, but to at least one page. Fails for less than one page or
    /// more than 2^32 - 1.
    pub fn pages(self, page_bytes: u64, footprint: u64) -> Result<u64, CacheError> {
        let pages = match self {
            Self::Pages(pages) => pages,
            Self::Bytes(bytes) => bytes / page_bytes,
            Self::Share(share) => ((footprint as f64 * share) as u64).max(1),
        };
        if pages == 0 {
            return Err(CacheError::argument(
                format!("size `{self}`"),
                format!("the cache is smaller than one page of {page_bytes} bytes"),
                REMEDY,
            ));
        }
        if pages > u64::from(u32::MAX) {
            let what = format!("size of {pages} pages");
            return Err(CacheError::argument(
                what,
                "at most 2^32 - 1 pages are supported",
                "give a smaller size, or use larger pages (--page-bytes)",
            ));
        }
        Ok(pages)
    }
}
