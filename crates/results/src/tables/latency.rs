//! Tables of response time distributions.

use super::{Column, us};
use crate::outcome::Outcome;
use std::iter::repeat_n;
use wordline_observe::{Heading, ObserveError, Point, Table, Values, columns, values};
use wordline_recorder::Record;

/// Builds the distribution of response times, for reads and writes together, for reads and for
/// writes.
pub fn latency(record: &Record) -> Result<Table, ObserveError> {
    let [read, write] = &record.total.latency;
    let all = record.total.all();
    let curves = [all.cdf(), read.cdf(), write.cdf()];
    let codes = curves
        .iter()
        .zip(0..)
        .flat_map(|(curve, op)| repeat_n(op, curve.len()));
    let op = Values::Words {
        words: &["all", "read", "write"],
        codes: codes.collect(),
    };
    let mut columns = vec![(Heading::new("op", "", "all, read or write"), op)];
    columns.extend(distribution(&curves.concat()));
    Table::new(columns)
}

/// Builds the distribution of response times of each stream and of each member of an array, reads
/// and writes together.
pub fn latency_by(outcome: &Outcome) -> Result<Table, ObserveError> {
    let streams = outcome.plan.streams.iter().zip(&outcome.record.streams);
    let streams = streams.map(|(stream, served)| (0, stream.name.clone(), served.all().cdf()));
    let members = outcome.plan.leaves().into_iter().zip(&outcome.members);
    let members = members.map(|(leaf, record)| (1, leaf.name, record.total.all().cdf()));
    let curves: Vec<(u8, String, Vec<Point>)> = streams.chain(members).collect();
    let rows: Vec<(u8, &str)> = curves
        .iter()
        .flat_map(|(kind, name, curve)| repeat_n((*kind, name.as_str()), curve.len()))
        .collect();
    let points: Vec<_> = curves
        .iter()
        .flat_map(|(.., curve)| curve.iter().copied())
        .collect();
    let kind = Values::Words {
        words: &["stream", "member"],
        codes: rows.iter().map(|(kind, _)| *kind).collect(),
    };
    let name = values(&rows, |(_, name)| name.to_string());
    let mut columns = vec![
        (Heading::new("of", "", "stream or member"), kind),
        (
            Heading::new("name", "", "Name of the stream or member"),
            name,
        ),
    ];
    columns.extend(distribution(&points));
    Table::new(columns)
}

fn distribution(points: &[Point]) -> Vec<Column> {
    columns! { points;
        latency_us, "us", "Response time", |point| us(point.at);
        fraction_below, "", "Share of requests with at most this response time", |point| point.fraction;
        count, "", "Requests with a response time above that of the previous row and at most that of this row", |point| point.count;
    }
}
