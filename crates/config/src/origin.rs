//! Origins of values, for messages.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Origin of a value, and of an error in the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Default of a key that the file does not set, or an error without a place in the file. Holds
    /// the name of the file; empty if there is none.
    Default(String),
    /// Preset of this name.
    Preset(String),
    /// Place in the configuration file.
    File(Box<Place>),
    /// Override in the form `key=value`.
    Override(String),
}

/// Place in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file as given by the user.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Text of the line.
    text: String,
    /// Number of characters to underline, at least 1.
    width: usize,
}

/// Maximum number of characters of a line, and of bytes of an override, in messages.
const SHOWN: usize = 160;

impl Place {
    fn new(file: &str, text: &str, span: Range<usize>) -> Self {
        let start = floor(text, span.start);
        let end = floor(text, span.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        Self {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[line_start..line_end].trim_end().to_owned(),
            width: text[start..end.min(line_end)].chars().count().max(1),
        }
    }

    /// Returns the line and, below it, carets under the faulty characters.
    fn picture(&self) -> String {
        let before = self.column - 1;
        let skipped = before.saturating_sub(SHOWN / 2);
        let shown: String = self.text.chars().skip(skipped).take(SHOWN).collect();
        let pad: String = shown
            .chars()
            .take(before - skipped)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let room = shown.chars().count().saturating_sub(before - skipped);
        let carets = "^".repeat(self.width.min(room).max(1));
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        format!("{margin} |\n{number} | {shown}\n{margin} | {pad}{carets}")
    }
}

/// Returns the last character boundary at or before byte `at`.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

impl Origin {
    /// Returns the origin for the bytes `span` of `text`, which is the content of `file`.
    pub(super) fn file(file: &str, text: &str, span: Range<usize>) -> Self {
        Self::File(Box::new(Place::new(file, text, span)))
    }

    /// Returns the start of a message about a value of this origin.
    pub(super) fn prefix(&self) -> String {
        match self {
            Self::Default(file) if file.is_empty() => String::new(),
            Self::Default(file) => format!("{file}: "),
            Self::Preset(name) => format!("preset {name}: "),
            Self::File(place) => format!("{}:{}:{}: ", place.file, place.line, place.column),
            Self::Override(text) => format!("--set {}: ", cut(text, SHOWN)),
        }
    }

    /// Returns the rank of the origin. An override, which has the highest precedence, has rank 0.
    pub(super) fn distance(&self) -> u8 {
        match self {
            Self::Override(_) => 0,
            Self::File(_) => 1,
            Self::Preset(_) => 2,
            Self::Default(_) => 3,
        }
    }

    /// Returns the end of a message about a value of this origin: the line of a value from a file.
    pub(super) fn suffix(&self) -> String {
        match self {
            Self::File(place) => format!("\n{}", place.picture()),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(_) => f.write_str("default"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::File(place) => write!(f, "{}:{}", place.file, place.line),
            Self::Override(text) => write!(f, "--set {text}"),
        }
    }
}

/// Shortens a text of more than `most` bytes for a message. Its start and its end, together at most
/// `most` bytes, are kept, with an ellipsis between them.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let begin = text.floor_char_boundary(most / 2);
    let end = text.ceil_char_boundary(text.len() - most / 2);
    Cow::Owned(format!("{}…{}", &text[..begin], &text[end..]))
}
