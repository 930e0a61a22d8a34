//! Ranges of numeric keys.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use serde_json::Value;

/// Range of a numeric key, as declared by its field.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// Numbers between two bounds.
    Between(Bound<f64>, Bound<f64>),
    /// Any of these values.
    OneOf(Vec<f64>),
}

impl Range {
    /// Returns the range of a number from its schema; `None` if the schema is not that of a number,
    /// or has no bound.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let is_number = |word: &Value| word == "integer" || word == "number";
        let is_among = |words: &Vec<Value>| words.iter().any(is_number);
        let kind = schema.get("type")?;
        if !is_number(kind) && !kind.as_array().is_some_and(is_among) {
            return None;
        }
        if let Some(numbers) = schema.get("enum").and_then(Value::as_array) {
            return Some(Self::OneOf(
                numbers.iter().filter_map(Value::as_f64).collect(),
            ));
        }
        let bound = |included: &str, excluded: &str| {
            let number = |name: &str| schema.get(name).and_then(Value::as_f64);
            match (number(excluded), number(included)) {
                (Some(bound), _) => Bound::Excluded(bound),
                (None, Some(bound)) => Bound::Included(bound),
                (None, None) => Bound::Unbounded,
            }
        };
        let least = bound("minimum", "exclusiveMinimum");
        let most = bound("maximum", "exclusiveMaximum");
        let bounded = (least, most) != (Bound::Unbounded, Bound::Unbounded);
        bounded.then_some(Self::Between(least, most))
    }

    /// Returns `true` if a number is in the range. NaN is never in a range.
    pub fn contains(&self, value: f64) -> bool {
        match self {
            Self::Between(least, most) => !value.is_nan() && (*least, *most).contains(&value),
            Self::OneOf(numbers) => numbers.contains(&value),
        }
    }

    /// Returns `true` if the whole range is above a number.
    pub(crate) fn is_above(&self, value: f64) -> bool {
        match self {
            Self::Between(least, _) => !(*least, Bound::Unbounded).contains(&value),
            Self::OneOf(numbers) => numbers.iter().all(|number| value < *number),
        }
    }
}

impl fmt::Display for Range {
    /// Writes the range so that it can follow "a number".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Bound::{Excluded, Included, Unbounded};
        match self {
            Self::Between(Included(least), Included(most)) => write!(f, "from {least} to {most}"),
            Self::Between(Excluded(least), Included(most)) => {
                write!(f, "above {least} and up to {most}")
            }
            Self::Between(Included(least), Excluded(most)) => {
                write!(f, "from {least} up to, not including, {most}")
            }
            Self::Between(Excluded(least), Excluded(most)) => {
                write!(f, "above {least} and below {most}")
            }
            Self::Between(Included(least), Unbounded) => write!(f, "not below {least}"),
            Self::Between(Excluded(least), Unbounded) => write!(f, "above {least}"),
            Self::Between(Unbounded, Included(most)) => write!(f, "up to {most}"),
            Self::Between(Unbounded, Excluded(most)) => write!(f, "below {most}"),
            Self::Between(Unbounded, Unbounded) => f.write_str("of any size"),
            Self::OneOf(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
                f.write_str(&numbers.join(" or "))
            }
        }
    }
}
