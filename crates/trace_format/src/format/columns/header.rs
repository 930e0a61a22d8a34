//! Column names in the first line of a table.

use crate::error::shown;
use crate::fields::{Fields, Row};

/// Returns the names in a header, without the comment sign and quotes.
pub(super) fn header<const SEPARATOR: u8>(line: &[u8]) -> Vec<String> {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"#").unwrap_or(line);
    let mut fields: Fields<SEPARATOR> = Row::new(line);
    let mut names = Vec::new();
    while let Ok(field) = fields.text("") {
        let name = unquoted(field);
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    names
}

pub(super) fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    let inner = field
        .strip_prefix(b"\"")
        .and_then(|field| field.strip_suffix(b"\""));
    inner.map_or(field, <[u8]>::trim_ascii)
}

/// Returns the index of a name in a header. Prefers an exact match; otherwise accepts a single
/// match that ignores case.
pub(super) fn find(header: &[String], name: &str) -> Result<usize, (String, String)> {
    if let Some(at) = header.iter().position(|known| known == name) {
        return Ok(at);
    }
    let mut alike = (0..header.len()).filter(|at| header[*at].eq_ignore_ascii_case(name));
    if let (Some(at), None) = (alike.next(), alike.next()) {
        return Ok(at);
    }
    let known: Vec<String> = header.iter().map(|known| shown(known.as_bytes())).collect();
    Err((
        format!("the first line has no column named `{name}`"),
        format!(
            "give one of {}, or the column's number from 1",
            known.join(", ")
        ),
    ))
}
