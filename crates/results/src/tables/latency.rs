//! Distributions of response times.

use super::us;
use crate::outcome::Outcome;
use std::iter::repeat_n;
use wordline_observe::{Heading, ObserveError, Point, Table, Values};
use wordline_recorder::Record;

/// The distribution of response times, for all requests, for reads and for writes.
pub fn latency(record: &Record) -> Result<Table, ObserveError> {
    let [read, write] = &record.total.latency;
    let all = record.total.all();
    let curves = [all.cdf(), read.cdf(), write.cdf()];
    let codes = curves
        .iter()
        .zip(0..)
        .flat_map(|(curve, op)| repeat_n(op, curve.len()));
    let mut columns = vec![(
        Heading::new("op", "", "all, read or write"),
        Values::Words {
            words: &["all", "read", "write"],
            codes: codes.collect(),
        },
    )];
    columns.extend(distribution(&curves.concat()));
    Table::new(columns)
}

/// The distribution of response times of each stream and of each member of an array, reads and writes
/// together.
pub fn latency_by(outcome: &Outcome) -> Result<Table, ObserveError> {
    let streams = outcome.plan.streams.iter().zip(&outcome.record.streams);
    let streams = streams.map(|(stream, served)| (0, stream.name.clone(), served.all().cdf()));
    let members = outcome.plan.leaves().into_iter().zip(&outcome.members);
    let members = members.map(|(leaf, record)| (1, leaf.name, record.total.all().cdf()));
    let curves: Vec<_> = streams.chain(members).collect();
    let rows = || {
        curves
            .iter()
            .flat_map(|(kind, name, curve)| repeat_n((*kind, name.clone()), curve.len()))
    };
    let points: Vec<_> = curves
        .iter()
        .flat_map(|(.., curve)| curve.iter().copied())
        .collect();
    let mut columns = vec![
        (
            Heading::new("of", "", "stream or member"),
            Values::Words {
                words: &["stream", "member"],
                codes: rows().map(|(kind, _)| kind).collect(),
            },
        ),
        (
            Heading::new("name", "", "Its name"),
            Values::Text(rows().map(|(_, name)| name.clone()).collect()),
        ),
    ];
    columns.extend(distribution(&points));
    Table::new(columns)
}

fn distribution(points: &[Point]) -> [(Heading, Values); 3] {
    let column = |of: fn(&Point) -> f64| points.iter().map(of).collect::<Vec<f64>>().into();
    [
        (
            Heading::new("latency_us", "us", "A response time"),
            column(|point| us(point.at)),
        ),
        (
            Heading::new(
                "fraction_below",
                "",
                "Share of requests that took no longer",
            ),
            column(|point| point.fraction),
        ),
        (
            Heading::new(
                "count",
                "",
                "Requests longer than the row before and no longer than this one",
            ),
            points
                .iter()
                .map(|point| point.count)
                .collect::<Vec<u64>>()
                .into(),
        ),
    ]
}
