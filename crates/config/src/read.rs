//! Deserialises a [`Config`] from a text or from tables. Both use the same reader, so that the code
//! that reads a type is compiled once.

use std::fmt;
use std::ops::Range;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};
use toml::{Spanned, Value};

use super::Config;

/// Fault of a value.
#[derive(Debug)]
pub(super) struct Fault {
    pub message: String,
    /// Range of the faulty bytes in the text; `None` if the source is tables, not a text.
    pub place: Option<Range<usize>>,
    /// Path from the outermost table. Each step is `.key` or `[element]`.
    steps: String,
}

impl Fault {
    /// Returns the key path, such as `streams[1].name`.
    pub(super) fn path(&self) -> &str {
        self.steps.strip_prefix('.').unwrap_or(&self.steps)
    }
    fn at(mut self, place: Option<Range<usize>>) -> Self {
        self.place = self.place.or(place);
        self
    }
    fn at_key(mut self, key: &str, place: Option<Range<usize>>) -> Self {
        self.steps = format!(".{key}{}", self.steps);
        self.at(place)
    }
    fn at_element(mut self, index: usize, place: Option<Range<usize>>) -> Self {
        self.steps = format!("[{index}]{}", self.steps);
        self.at(place)
    }
}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: message.to_string(),
            place: None,
            steps: String::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// Reads a configuration from a text. Errors have their place in the text.
pub(super) fn text(root: Spanned<DeTable<'_>>) -> Result<Config, Fault> {
    let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    let reader = Reader::Text(&root);
    Config::deserialize(reader).map_err(|fault| fault.at(reader.place()))
}

/// Reads a configuration from tables. Errors have no place.
pub(super) fn tables(root: &Value) -> Result<Config, Fault> {
    Config::deserialize(Reader::Table(root))
}

/// Deserialiser over a text or over tables.
#[derive(Clone, Copy)]
enum Reader<'a> {
    Text(&'a Spanned<DeValue<'a>>),
    Table(&'a Value),
}

/// Value of either source.
enum Said<'a> {
    Boolean(bool),
    Whole(i64),
    Large(u64),
    Real(f64),
    Word(&'a str),
    Date(String),
    List(List<'a>),
    Table(Entries<'a>),
    /// Value of a type that no key accepts, as a description for messages.
    Other(String),
}

impl<'a> Reader<'a> {
    fn place(self) -> Option<Range<usize>> {
        match self {
            Self::Text(value) => Some(value.span()),
            Self::Table(_) => None,
        }
    }

    fn said(self) -> Result<Said<'a>, Fault> {
        Ok(match self {
            Self::Text(value) => match value.get_ref() {
                DeValue::Boolean(value) => Said::Boolean(*value),
                DeValue::Integer(digits) => whole(digits)?,
                DeValue::Float(digits) => real(digits)?,
                DeValue::String(word) => Said::Word(word),
                DeValue::Datetime(_) => Said::Other("a date".into()),
                DeValue::Array(list) => Said::List(List::new(list.iter().map(Self::Text))),
                DeValue::Table(table) => {
                    Said::Table(Entries::new(table.iter().map(|(key, value)| {
                        (&**key.get_ref(), Some(key.span()), Self::Text(value))
                    })))
                }
            },
            Self::Table(value) => match value {
                Value::Boolean(value) => Said::Boolean(*value),
                Value::Integer(value) => Said::Whole(*value),
                Value::Float(value) => Said::Real(*value),
                Value::String(word) => Said::Word(word),
                Value::Datetime(date) => Said::Date(date.to_string()),
                Value::Array(list) => Said::List(List::new(list.iter().map(Self::Table))),
                Value::Table(table) => Said::Table(Entries::new(
                    table
                        .iter()
                        .map(|(key, value)| (&**key, None, Self::Table(value))),
                )),
            },
        })
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Text(value) => value.get_ref().type_str(),
            Self::Table(value) => value.type_str(),
        }
    }
}

fn whole<'a>(digits: &DeInteger<'_>) -> Result<Said<'a>, Fault> {
    let (text, radix) = (digits.as_str(), digits.radix());
    if let Ok(value) = i64::from_str_radix(text, radix) {
        return Ok(Said::Whole(value));
    }
    if let Ok(value) = u64::from_str_radix(text, radix) {
        return Ok(Said::Large(value));
    }
    // These are the messages of the `toml` crate.
    let signed =
        i128::from_str_radix(text, radix).map(|value| format!("integer `{value}` as i128"));
    let either = signed.or_else(|_| {
        u128::from_str_radix(text, radix).map(|value| format!("integer `{value}` as u128"))
    });
    either
        .map(Said::Other)
        .map_err(|_| Fault::custom("integer number overflowed"))
}

fn real<'a>(digits: &DeFloat<'_>) -> Result<Said<'a>, Fault> {
    match digits.as_str().parse::<f64>() {
        Ok(value) if value.is_finite() || value.is_nan() || digits.as_str().contains("inf") => {
            Ok(Said::Real(value))
        }
        _ => Err(Fault::custom("floating-point number overflowed")),
    }
}

impl Said<'_> {
    /// Returns the error for a value of an unexpected type.
    fn is_not(&self, expected: &dyn Expected) -> Fault {
        let unexpected = match self {
            Self::Boolean(value) => Unexpected::Bool(*value),
            Self::Whole(value) => Unexpected::Signed(*value),
            Self::Large(value) => Unexpected::Unsigned(*value),
            Self::Real(value) => Unexpected::Float(*value),
            Self::Word(word) => Unexpected::Str(word),
            Self::Date(date) => Unexpected::Str(date),
            Self::List(_) => Unexpected::Seq,
            Self::Table(_) => Unexpected::Map,
            Self::Other(words) => Unexpected::Other(words),
        };
        Fault::invalid_type(unexpected, expected)
    }
}

/// Uses no closures, and calls no visitor method that a type does not need, because each would be
/// compiled for every type.
impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.said()? {
            Said::Boolean(value) => visitor.visit_bool(value),
            Said::Whole(value) => visitor.visit_i64(value),
            Said::Large(value) => visitor.visit_u64(value),
            Said::Real(value) => visitor.visit_f64(value),
            Said::Word(word) => visitor.visit_borrowed_str(word),
            Said::Date(date) => visitor.visit_string(date),
            Said::List(_) => self.deserialize_seq(visitor),
            Said::Table(entries) => visitor.visit_map(entries),
            other @ Said::Other(_) => Err(other.is_not(&visitor)),
        }
    }
    /// Reads a struct, which may also be a list of its fields.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.said()? {
            Said::Table(entries) => visitor.visit_map(entries),
            Said::List(_) => self.deserialize_seq(visitor),
            other => Err(other.is_not(&visitor)),
        }
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let mut list = match self.said()? {
            Said::List(list) => list,
            other => return Err(other.is_not(&visitor)),
        };
        let value = visitor.visit_seq(&mut list)?;
        list.end()?;
        Ok(value)
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(Choice::new(self)?)
    }
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct map identifier ignored_any
    }
}

type Entry<'a> = (&'a str, Option<Range<usize>>, Reader<'a>);

/// Entries of a table.
struct Entries<'a> {
    rest: Box<dyn ExactSizeIterator<Item = Entry<'a>> + 'a>,
    /// Name and value of the key read last.
    value: Option<(&'a str, Reader<'a>)>,
}

impl<'a> Entries<'a> {
    fn new(entries: impl ExactSizeIterator<Item = Entry<'a>> + 'a) -> Self {
        Self {
            rest: Box::new(entries),
            value: None,
        }
    }
}

impl<'a> MapAccess<'a> for Entries<'a> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some((name, place, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some((name, value));
        match seed.deserialize(BorrowedStrDeserializer::new(name)) {
            Ok(key) => Ok(Some(key)),
            Err(fault) => Err(Fault::at_key(fault, name, place)),
        }
    }
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((name, value)) = self.value.take() else {
            return Err(Fault::custom("a value without a key"));
        };
        match seed.deserialize(value) {
            Ok(value) => Ok(value),
            Err(fault) => Err(Fault::at_key(fault, name, value.place())),
        }
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Elements of an array.
struct List<'a> {
    length: usize,
    rest: Box<dyn ExactSizeIterator<Item = Reader<'a>> + 'a>,
}

impl<'a> List<'a> {
    fn new(elements: impl ExactSizeIterator<Item = Reader<'a>> + 'a) -> Self {
        Self {
            length: elements.len(),
            rest: Box::new(elements),
        }
    }
    fn end(&self) -> Result<(), Fault> {
        match self.rest.len() {
            0 => Ok(()),
            _ => Err(Fault::invalid_length(
                self.length,
                &"fewer elements in array",
            )),
        }
    }
}

impl<'a> SeqAccess<'a> for List<'a> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let index = self.length - self.rest.len();
        let Some(element) = self.rest.next() else {
            return Ok(None);
        };
        match seed.deserialize(element) {
            Ok(value) => Ok(Some(value)),
            Err(fault) => Err(Fault::at_element(fault, index, element.place())),
        }
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Reader of one of several words, or of a table whose only key is one of them.
struct Choice<'a> {
    name: &'a str,
    place: Option<Range<usize>>,
    value: Option<Reader<'a>>,
}

impl<'a> Choice<'a> {
    fn new(reader: Reader<'a>) -> Result<Self, Fault> {
        let mut entries = match reader.said() {
            Ok(Said::Word(name)) => {
                return Ok(Self {
                    name,
                    place: None,
                    value: None,
                });
            }
            Ok(Said::Table(entries)) => entries.rest,
            _ => return Err(Self::neither(reader)),
        };
        match (entries.next(), entries.len()) {
            (Some((name, place, value)), 0) => Ok(Self {
                name,
                place,
                value: Some(value),
            }),
            (None, _) => Err(Fault::custom("wanted exactly 1 element, found 0 elements")),
            _ => Err(Fault::custom(
                "wanted exactly 1 element, more than 1 element",
            )),
        }
    }
    /// Returns the error for a value that is neither a word nor a table, worded as the `toml` crate
    /// does for the same source.
    fn neither(reader: Reader<'_>) -> Fault {
        match reader {
            Reader::Text(_) => Fault::custom("wanted string or table"),
            Reader::Table(_) => Fault::invalid_type(Unexpected::UnitVariant, &"string only"),
        }
    }
    fn value(&self, expected: &str) -> Result<Reader<'a>, Fault> {
        self.value
            .ok_or_else(|| self.fault(Fault::invalid_type(Unexpected::UnitVariant, &expected)))
    }
    fn fault(&self, fault: Fault) -> Fault {
        fault.at_key(self.name, self.value.and_then(Reader::place))
    }
}

impl<'a> EnumAccess<'a> for Choice<'a> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        match seed.deserialize(BorrowedStrDeserializer::new(self.name)) {
            Ok(variant) => Ok((variant, self)),
            Err(fault) => Err(Fault::at(fault, self.place)),
        }
    }
}

impl<'a> VariantAccess<'a> for Choice<'a> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        let Some(value) = self.value else {
            return Ok(());
        };
        let wanted = match value.said()? {
            Said::List(list) if list.length == 0 => return Ok(()),
            Said::Table(entries) if entries.rest.len() == 0 => return Ok(()),
            Said::List(_) => "expected empty array".to_owned(),
            Said::Table(_) => "expected empty table".to_owned(),
            _ => format!("expected table, found {}", value.kind()),
        };
        Err(self.fault(Fault::custom(wanted)))
    }
    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Fault> {
        match seed.deserialize(self.value("newtype variant")?) {
            Ok(value) => Ok(value),
            Err(fault) => Err(self.fault(fault)),
        }
    }
    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        match self.value("tuple variant")?.deserialize_seq(visitor) {
            Ok(value) => Ok(value),
            Err(fault) => Err(self.fault(fault)),
        }
    }
    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let value = self.value("struct variant")?;
        match value.deserialize_struct("", fields, visitor) {
            Ok(value) => Ok(value),
            Err(fault) => Err(self.fault(fault)),
        }
    }
}
