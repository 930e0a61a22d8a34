//! Miss-ratio curves of a trace.

use std::num::NonZeroU32;
use std::ops::Range;

use serde::Serialize;
use wordline_cache::{Entry, Requests};
use wordline_miss_ratio::{
    Accuracy, Aet, Axis, Curve, Exact, Interval, Method, Rate, ShardsRate, ShardsSize, accuracy,
};
use wordline_workload::grouped;

use super::source::{Input, Numbering, Paging, Sink, pour};
use super::{CacheError, Phase, Progress, Size, Watch};

/// Maximum deviation of the drawn curve from the computed curve. Misses per request.
const TOLERANCE: f64 = 0.0005;
/// Number of requests between two progress reports.
const BEAT: usize = 1 << 18;

/// Selection of the methods that compute curves, and their parameters.
#[derive(Clone, Debug, Default)]
pub struct Methods {
    /// Whether to compute the exact curve, from stack distances.
    pub exact: bool,
    /// Share of the pages that SHARDS samples; `None` disables this estimate.
    pub shards_rate: Option<f64>,
    /// Maximum number of pages that SHARDS samples; `None` disables this estimate.
    pub shards_pages: Option<u32>,
    /// Whether to estimate the curve with the AET model.
    pub aet: bool,
    /// Number of hash functions over which the errors of the estimates are measured; 0 for no
    /// measurement.
    pub hashes: u32,
    /// Seed of the sample.
    pub seed: u64,
    /// Sizes at which the miss ratio is listed.
    pub sizes: Vec<Size>,
}

/// Miss-ratio curves of a trace, and the accuracy of the estimates.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Mrc {
    pub input: Input,
    pub curves: Vec<CurveOf>,
    pub accuracy: Vec<AccuracyOf>,
}

/// Miss-ratio curve of an LRU cache at every size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct CurveOf {
    pub method: String,
    /// Distinct pages. An estimate if pages were sampled.
    pub distinct_pages: u64,
    /// Sampled pages at the end of the trace; `None` if all pages were used.
    pub sampled_pages: Option<u64>,
    /// Memory of the sample at the end of the trace; `None` if all pages were used. Bytes.
    pub sample_bytes: Option<u64>,
    /// Miss ratios at the requested sizes.
    pub sizes: Vec<CurveAt>,
    /// Corners of the drawn curve.
    pub points: Vec<PointOf>,
}

/// Miss ratio at a cache size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct CurveAt {
    pub size_pages: u64,
    pub size_bytes: u64,
    pub footprint_ratio: f64,
    pub hits: u64,
    pub miss_ratio: f64,
}

/// Corner of a curve. The curve is linear between corners if sizes are on a logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct PointOf {
    pub size_pages: f64,
    pub miss_ratio: f64,
}

/// Accuracy of a method relative to the exact curve, over all sizes from 1 page to the footprint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct AccuracyOf {
    pub method: String,
    /// Number of independent hash functions; 1 for a method without sampling.
    pub hashes: u32,
    /// Mean absolute error of the miss ratio, over sizes and hashes.
    pub error_mean: f64,
    /// Half-width of the 95 % confidence interval of `error_mean`; `None` for a single hash.
    pub error_half_width: Option<f64>,
    /// Mean signed error. Positive if the method overestimates misses.
    pub bias_mean: f64,
    pub bias_half_width: Option<f64>,
    /// Largest absolute error at any size and with any hash.
    pub error_max: f64,
}

/// Computes the curves of a trace in one pass over its files.
pub fn mrc(paging: &Paging, methods: &Methods, watch: &mut Watch<'_>) -> Result<Mrc, CacheError> {
    let mut sampled = Vec::new();
    if let Some(share) = methods.shards_rate {
        sampled.push(Method::ShardsRate(rate(share)?));
    }
    if let Some(pages) = methods.shards_pages {
        let most = NonZeroU32::new(pages);
        let most = most.ok_or_else(|| {
            CacheError::argument(
                "samples = 0",
                "no page would be sampled",
                "give at least 1 page",
            )
        })?;
        sampled.push(Method::ShardsSize(most));
    }
    let whole = methods.exact || methods.aet || methods.hashes > 0;
    let mut sinks = Sinks {
        numbering: whole.then(|| Numbering::new(paging)),
        estimators: sampled
            .iter()
            .filter_map(|method| Estimator::new(*method, methods.seed))
            .collect(),
        one: Vec::new(),
    };
    let mut input = pour(paging, &mut sinks, watch)?;
    if input.trims > 0 {
        let trims = grouped(input.trims);
        let note = format!("{trims} TRIMs were ignored: a curve covers reads and writes only.");
        input.notes.push(note);
    }
    let estimated: Vec<Curve> = sinks.estimators.iter().map(Estimator::curve).collect();
    let taken = sinks.estimators.iter().map(Estimator::taken);
    let taken: Vec<Taken> = taken.collect();
    if let Some(share) = methods.shards_rate
        && estimated
            .first()
            .is_some_and(|curve| curve.footprint() == 0)
    {
        return Err(CacheError::argument(
            format!("rate = {share:e}"),
            "no page of the trace is in the sample",
            "give a larger share of the pages, or use the method `exact`",
        ));
    }
    let pages = sinks
        .numbering
        .map(|numbering| numbering.finish(Input::default()));
    let requests = pages.map(|pages| pages.requests).unwrap_or_default();
    let mut found: Vec<(String, Curve, Option<Taken>)> = Vec::new();
    let exact = if methods.exact || methods.hashes > 0 {
        Some(exact(&requests, watch)?)
    } else {
        None
    };
    if let Some(curve) = exact.as_ref().filter(|_| methods.exact) {
        found.push(("exact".to_owned(), curve.clone(), None));
    }
    let names = sampled.iter().map(Method::to_string);
    let sampled_curves = names.zip(estimated).zip(taken);
    found.extend(sampled_curves.map(|((name, curve), taken)| (name, curve, Some(taken))));
    if methods.aet {
        found.push((Method::Aet.to_string(), aet(&requests, watch)?, None));
        sampled.push(Method::Aet);
    }
    input.distinct_pages = match found.first() {
        _ if whole => requests.footprint().into(),
        first => first.map_or(0, |(_, curve, _)| curve.footprint()),
    };
    input.footprint_bytes = input.distinct_pages.saturating_mul(input.page_bytes);
    if !whole {
        let note = "The number of distinct pages is an estimate from the sampled pages.";
        input.notes.push(note.to_owned());
    }
    let curves = found
        .iter()
        .map(|(name, curve, taken)| tell(name, curve, *taken, &methods.sizes, &input));
    let curves = curves.collect::<Result<_, _>>()?;
    let accuracy = match &exact {
        Some(exact) if methods.hashes > 0 => {
            errors(&requests, exact, &sampled, methods.hashes, watch)?
        }
        _ => Vec::new(),
    };
    Ok(Mrc {
        input,
        curves,
        accuracy,
    })
}

fn rate(share: f64) -> Result<Rate, CacheError> {
    let wrong = |_| {
        let remedy = "give a share of the pages above 0 and at most 1";
        CacheError::argument(
            format!("rate = {share}"),
            "the share is out of range",
            remedy,
        )
    };
    Rate::new(share).map_err(wrong)
}

/// Receiver of a trace's requests, for all methods.
struct Sinks {
    numbering: Option<Numbering>,
    estimators: Vec<Estimator>,
    /// Pages of the current request.
    one: Vec<u64>,
}

impl Sink for Sinks {
    fn reads(&mut self, keys: &[u64]) -> Result<(), CacheError> {
        for estimator in &mut self.estimators {
            estimator.extend(keys);
        }
        match &mut self.numbering {
            Some(numbering) => numbering.reads(keys),
            None => Ok(()),
        }
    }
    fn request(&mut self, keys: Range<u64>, _write: bool) -> Result<(), CacheError> {
        let mut one = std::mem::take(&mut self.one);
        one.clear();
        one.extend(keys);
        let done = self.reads(&one);
        self.one = one;
        done
    }
}

/// Size of a sample at the end of the trace.
#[derive(Clone, Copy)]
struct Taken {
    pages: u64,
    bytes: u64,
}

/// Estimator of a curve from a sample of the pages.
enum Estimator {
    Rate(ShardsRate),
    Size(ShardsSize),
}

impl Estimator {
    fn new(method: Method, seed: u64) -> Option<Self> {
        match method {
            Method::ShardsRate(rate) => Some(Self::Rate(ShardsRate::new(rate, seed))),
            Method::ShardsSize(keys) => Some(Self::Size(ShardsSize::new(keys, seed))),
            _ => None,
        }
    }
    fn extend(&mut self, keys: &[u64]) {
        match self {
            Self::Rate(shards) => shards.extend(keys.iter().copied()),
            Self::Size(shards) => shards.extend(keys.iter().copied()),
        }
    }
    fn taken(&self) -> Taken {
        let (pages, bytes) = match self {
            Self::Rate(shards) => (shards.keys(), shards.bytes()),
            Self::Size(shards) => (shards.keys(), shards.bytes()),
        };
        Taken {
            pages: pages as u64,
            bytes,
        }
    }
    fn curve(&self) -> Curve {
        match self {
            Self::Rate(shards) => shards.curve(),
            Self::Size(shards) => shards.curve(),
        }
    }
}

fn exact(requests: &Requests, watch: &mut Watch<'_>) -> Result<Curve, CacheError> {
    let mut exact = Exact::default();
    each(requests, Phase::Exact, watch, |entry| {
        exact.request(entry);
    })?;
    Ok(exact.curve())
}

fn aet(requests: &Requests, watch: &mut Watch<'_>) -> Result<Curve, CacheError> {
    let mut aet = Aet::default();
    each(requests, Phase::Aet, watch, |entry| aet.request(entry))?;
    Ok(aet.curve())
}

/// Calls `act` for every page request, and reports progress.
fn each(
    requests: &Requests,
    phase: Phase,
    watch: &mut Watch<'_>,
    mut act: impl FnMut(Entry),
) -> Result<(), CacheError> {
    let mut done = 0;
    for some in requests.numbers().chunks(BEAT) {
        for &number in some {
            act(Entry(number));
        }
        done += some.len();
        let now = Progress {
            phase,
            requests: done as u64,
            fraction: Some(done as f64 / requests.len() as f64),
        };
        if !watch(now) {
            return Err(CacheError::Interrupted);
        }
    }
    Ok(())
}

fn tell(
    name: &str,
    curve: &Curve,
    taken: Option<Taken>,
    sizes: &[Size],
    input: &Input,
) -> Result<CurveOf, CacheError> {
    let at = |size: &Size| {
        let pages = size.pages(input.page_bytes, input.distinct_pages)?;
        Ok(CurveAt {
            size_pages: pages,
            size_bytes: pages.saturating_mul(input.page_bytes),
            footprint_ratio: pages as f64 / input.distinct_pages.max(1) as f64,
            hits: curve.hits(pages),
            miss_ratio: curve.miss_ratio(pages),
        })
    };
    let mut at = sizes
        .iter()
        .map(at)
        .collect::<Result<Vec<_>, CacheError>>()?;
    at.sort_by_key(|at| at.size_pages);
    at.dedup_by_key(|at| at.size_pages);
    let points = curve.points(TOLERANCE, Axis::Logarithmic).into_iter();
    let points = points.map(|point| PointOf {
        size_pages: point.size,
        miss_ratio: point.miss_ratio,
    });
    Ok(CurveOf {
        method: name.to_owned(),
        distinct_pages: curve.footprint(),
        sampled_pages: taken.map(|taken| taken.pages),
        sample_bytes: taken.map(|taken| taken.bytes),
        sizes: at,
        points: points.collect(),
    })
}

/// Measures the errors of each method. A method without sampling is measured once.
fn errors(
    requests: &Requests,
    exact: &Curve,
    methods: &[Method],
    hashes: u32,
    watch: &mut Watch<'_>,
) -> Result<Vec<AccuracyOf>, CacheError> {
    let mut found = Vec::new();
    for &method in methods {
        let now = Progress {
            phase: Phase::Accuracy,
            requests: 0,
            fraction: Some(found.len() as f64 / methods.len() as f64),
        };
        if !watch(now) {
            return Err(CacheError::Interrupted);
        }
        let hashes = if method == Method::Aet { 1 } else { hashes };
        found.push(AccuracyOf::new(
            &accuracy(requests, exact, method, hashes),
            hashes,
        ));
    }
    Ok(found)
}

impl AccuracyOf {
    fn new(found: &Accuracy, hashes: u32) -> Self {
        let half = |interval: Interval| Some(interval.half_width).filter(|half| half.is_finite());
        Self {
            method: found.method.to_string(),
            hashes,
            error_mean: found.error.mean,
            error_half_width: half(found.error),
            bias_mean: found.bias.mean,
            bias_half_width: half(found.bias),
            error_max: found.largest,
        }
    }
}
