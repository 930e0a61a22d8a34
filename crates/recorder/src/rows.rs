//! One row per request.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::Error};
use wordline_block::{LATENCY_COMPONENTS, LatencyComponent, LatencyComponents, Request};
use wordline_kernel::Time;
use wordline_observe::{Finished, Heading, Kind, ObserveError, RowTable, Table};

pub(super) const PS: &str = "ps";

/// Columns that are set when a row is added: index of the row, and number of the request in the
/// input.
const INDEX: usize = 0;
const NUMBER: usize = 2;

/// Declares the columns of a row before the latency components, one line per column: name, unit,
/// description, kind and value.
macro_rules! head_columns {
    (
        $request:ident $latency:ident;
        $($name:ident, $unit:expr, $meaning:literal, $kind:expr, $word:expr;)+
    ) => {
        pub(super) const HEAD: usize = HEAD_COLUMNS.len();
        const HEAD_COLUMNS: &[(Heading, Kind)] =
            &[$((Heading::new(stringify!($name), $unit, $meaning), $kind)),+];
        fn head($request: &Request, $latency: Time) -> [u64; HEAD] {
            [$($word),+]
        }
    };
}

head_columns! { request latency;
    index, "", "Order of completion, from 0", Kind::U64, 0;
    stream, "", "Stream of the host, from 0", Kind::U64, request.stream.into();
    number, "", "Number of the request in the input of its stream, from 0", Kind::U64, 0;
    op, "", "read, write, trim or flush", Kind::Word(&["read", "write", "trim", "flush"]), request.op as u64;
    offset, "B", "First byte of the request", Kind::U64, request.offset;
    bytes, "B", "Length of the request", Kind::U64, request.bytes;
    arrival_ps, PS, "Time at which the host issued the request", Kind::I64, request.arrival.0;
    latency_ps, PS, "Time from arrival to completion; sum of the latency components in the following columns", Kind::I64, latency.0;
}

pub(super) const ROW: usize = HEAD + LATENCY_COMPONENTS;

pub(super) fn column(place: usize) -> (Heading, Kind) {
    HEAD_COLUMNS.get(place).copied().unwrap_or_else(|| {
        let LatencyComponent {
            column, meaning, ..
        } = &LatencyComponent::ALL[place - HEAD];
        (Heading::new(column, PS, meaning), Kind::I64)
    })
}

/// Number of columns of an array's requests, which have one more at the end.
pub(super) const MEMBER_ROW: usize = ROW + 1;

pub(super) const MEMBER: (Heading, Kind) = (
    Heading::new(
        "member",
        "",
        "Member of the array that served the part completed last, from 0",
    ),
    Kind::U64,
);

/// Row of a request whose number is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unnumbered {
    row: [u64; ROW],
    member: u32,
}

impl Unnumbered {
    /// Creates the row of a request whose last part was served by `member`.
    pub(super) fn new(
        request: &Request,
        latency: Time,
        parts: &LatencyComponents,
        member: u32,
    ) -> Self {
        let head = head(request, latency);
        let parts = parts.in_order();
        Self {
            row: std::array::from_fn(|place| {
                let part = |place: usize| parts[place - HEAD].0;
                head.get(place).copied().unwrap_or_else(|| part(place))
            }),
            member,
        }
    }
}

/// Rows of requests.
#[derive(Debug)]
pub(super) enum Rows {
    OfDevice(Box<RowTable<ROW>>),
    OfArray(Box<RowTable<MEMBER_ROW>>),
}

fn of_array() -> [(Heading, Kind); MEMBER_ROW] {
    std::array::from_fn(|place| if place < ROW { column(place) } else { MEMBER })
}

impl Rows {
    pub(super) fn new(is_of_array: bool) -> Self {
        if is_of_array {
            return Self::OfArray(Box::new(RowTable::in_memory(of_array())));
        }
        Self::OfDevice(Box::new(RowTable::in_memory(std::array::from_fn(column))))
    }
    fn resume(is_of_array: bool, state: (&[u8], &[u64])) -> Result<Self, ObserveError> {
        if is_of_array {
            let rows = RowTable::resume(of_array(), state)?;
            return Ok(Self::OfArray(Box::new(rows)));
        }
        let rows = RowTable::resume(std::array::from_fn(column), state)?;
        Ok(Self::OfDevice(Box::new(rows)))
    }
    /// Returns an empty table of the same kind.
    pub(super) fn emptied(self) -> Self {
        Self::new(matches!(self, Self::OfArray(_)))
    }
    pub(super) fn rows(&self) -> u64 {
        match self {
            Self::OfDevice(rows) => rows.rows(),
            Self::OfArray(rows) => rows.rows(),
        }
    }
    /// Adds a row with the number of its request in the stream.
    pub(super) fn push(&mut self, unnumbered: Unnumbered, number: u64) -> Result<(), ObserveError> {
        let Unnumbered { mut row, member } = unnumbered;
        row[INDEX] = self.rows();
        row[NUMBER] = number;
        match self {
            Self::OfDevice(rows) => rows.push(row),
            Self::OfArray(rows) => {
                let value = |place| row.get(place).copied().unwrap_or(member.into());
                rows.push(std::array::from_fn(value))
            }
        }
    }
    pub(super) fn finish(self) -> Result<Finished, ObserveError> {
        match self {
            Self::OfDevice(rows) => rows.finish(),
            Self::OfArray(rows) => rows.finish(),
        }
    }
}

pub(super) fn rows(
    rows: Option<Rows>,
    error: Option<ObserveError>,
) -> Result<Option<Table>, ObserveError> {
    if let Some(error) = error {
        return Err(error);
    }
    let Some(rows) = rows else { return Ok(None) };
    match rows.finish()? {
        Finished::Kept(table) => Ok(Some(table)),
        Finished::Written(_) => Ok(None),
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (is_of_array, state) = match self {
            Self::OfDevice(rows) => (false, rows.state()),
            Self::OfArray(rows) => (true, rows.state()),
        };
        let (kept, rows) = state.map_err(S::Error::custom)?;
        (is_of_array, kept, rows).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (is_of_array, kept, rows) = <(bool, Vec<u8>, Vec<u64>)>::deserialize(deserializer)?;
        Self::resume(is_of_array, (&kept, &rows)).map_err(de::Error::custom)
    }
}
