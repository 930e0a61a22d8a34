//! Compares response times with those measured on real drives. If a recording in
//! `../shared/traces/disk/real`, relative to the project's root, is missing, the test prints a
//! notice and skips that drive.

use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::json;
use wordline_hdd::extent::Extent;
use wordline_kernel::Time;

use super::host::{Answer, Arrivals, Ask, disk, ms, preset, serve};

fn file(name: &str) -> Option<String> {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/traces/disk/real"
    ));
    let path = folder.join(name);
    if !path.is_file() {
        println!(
            "NOTICE: ../shared/traces/disk/real/{name} is absent, so its drive was not compared"
        );
        return None;
    }
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    let packed = bytes.starts_with(&[0x1f, 0x8b]);
    if packed {
        GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    Some(text)
}

/// Returns the demerit of two distributions, which is their root mean square distance over the
/// quantiles 0.0001, 0.0002 ... 1 (Ruemmler and Wilkes 1994).
fn demerit(one: impl Fn(f64) -> f64, other: impl Fn(f64) -> f64) -> f64 {
    let steps = 10_000;
    let square = |step: u32| {
        let share = f64::from(step) / f64::from(steps);
        (one(share) - other(share)).powi(2)
    };
    ((1..=steps).map(square).sum::<f64>() / f64::from(steps)).sqrt()
}

/// Returns the quantile function of response times, with linear interpolation.
fn quantiles(mut took: Vec<f64>) -> impl Fn(f64) -> f64 {
    took.sort_by(f64::total_cmp);
    move |share| {
        let at = share * (took.len() - 1) as f64;
        let low = at.floor() as usize;
        let high = (low + 1).min(took.len() - 1);
        took[low] + (at - low as f64) * (took[high] - took[low])
    }
}

fn mean(took: &[f64]) -> f64 {
    took.iter().sum::<f64>() / took.len() as f64
}

/// Documentation page that must quote the results.
const PAGE: &str = include_str!("../../../../../docs/explanation/disk.md");

/// Row of a drive on that page, with the values measured here.
struct Found {
    row: String,
    demerit: f64,
}

impl Found {
    fn new(drive: &str, demerit: f64, disksim: f64, means: &str, measured: &str) -> Self {
        let row =
            format!("| {drive} | {demerit:.3} ms | {disksim:.3} ms | {means} ms | {measured} |");
        println!("demerit: {row}");
        Self { row, demerit }
    }
    fn is_told(&self) {
        assert!(
            PAGE.contains(&self.row),
            "docs/explanation/disk.md lacks the row {}",
            self.row
        );
    }
}

/// Returns the demerit of a preset for requests that a real drive served; `None` if the recording
/// is missing. Each request is issued as long after the completion of the previous one as in the
/// recording.
fn compare(name: &str, drive: &str, requests: &str, disksim: f64) -> Option<Found> {
    let text = file(requests)?;
    let mut asks = Vec::new();
    let (mut arrivals, mut measured) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        asks.push(Ask {
            write: columns[4] == "W",
            extent: Extent {
                lbn: columns[2].parse().unwrap(),
                sectors: columns[3].parse().unwrap(),
            },
        });
        arrivals.push(columns[0].parse::<f64>().unwrap() * 1e3);
        measured.push(columns[5].parse::<f64>().unwrap());
    }
    let gap = |place: usize| {
        let next = arrivals.get(place + 1).unwrap_or(&arrivals[place]);
        ms((next - arrivals[place] - measured[place]).max(0.0))
    };
    let gaps: Vec<Time> = (0..asks.len()).map(gap).collect();
    let mut disk = disk(&preset(name, json!({})));
    let answers = serve(&mut disk, &asks, &Arrivals::Think(gaps));
    let took: Vec<f64> = answers.iter().map(Answer::ms).collect();
    let mut means = [[0.0; 2]; 2];
    for write in [false, true] {
        let own: Vec<usize> = (0..asks.len())
            .filter(|place| asks[*place].write == write)
            .collect();
        let of = |took: &[f64]| own.iter().map(|place| took[*place]).collect::<Vec<f64>>();
        let (ours, theirs) = (of(&took), of(&measured));
        means[usize::from(write)] = [mean(&ours), mean(&theirs)];
        println!(
            "{name} {}: mean {:.3} ms, measured {:.3}; demerit {:.3}",
            if write { "writes" } else { "reads" },
            mean(&ours),
            mean(&theirs),
            demerit(quantiles(ours.clone()), quantiles(theirs.clone())),
        );
        let (ours, theirs) = (quantiles(ours), quantiles(theirs));
        for share in [
            0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99,
        ] {
            println!("  {share:.2} {:.3} {:.3}", ours(share), theirs(share));
        }
    }
    let found = demerit(quantiles(took), quantiles(measured));
    let [reads, writes] = means;
    Some(Found::new(
        drive,
        found,
        disksim,
        &format!("reads {:.3}, writes {:.3}", reads[0], writes[0]),
        &format!("{:.3}, {:.3}", reads[1], writes[1]),
    ))
}

/// The demerits of DiskSim come from its own validation runs over all 10,000 requests (7,980 for
/// the RZ26). The demerits computed here cover the first 5,000 requests.
#[test]
#[allow(clippy::approx_constant)] // a demerit of 0.318 ms
fn response_times_of_real_drives_match_as_well_as_disksim() {
    let drives = [
        ("atlas-10k", "Quantum Atlas 10K", "atlas10k", 0.268),
        ("atlas-iii", "Quantum Atlas III", "atlas_III", 0.378),
        ("barracuda-4lp", "Seagate Barracuda 4LP", "barracuda", 0.349),
        ("cheetah-4lp", "Seagate Cheetah 4LP", "cheetah4LP", 0.318),
        ("cheetah-9lp", "Seagate Cheetah 9LP", "cheetah9LP", 0.107),
        ("ultrastar-18es", "IBM Ultrastar 18ES", "ibm18es", 0.135),
        ("dec-rz26", "DEC RZ26", "dec_rz26", 0.340),
    ];
    let found = drives.map(|(name, drive, recording, disksim)| {
        let requests = format!("{recording}_0-4999.csv.gz");
        (compare(name, drive, &requests, disksim), disksim)
    });
    for (found, disksim) in found {
        let Some(found) = found else { continue };
        found.is_told();
        assert!(found.demerit <= disksim, "{}", found.row);
    }
}

/// The distribution was measured on an Atlas 10K IV with its buffer off. The requests come from the
/// same generator, but are not identical.
#[test]
fn response_time_distribution_of_an_atlas_10k_iv_matches_the_measurement() {
    let (Some(requests), Some(curve)) = (
        file("atlas10k4_random_requests.csv.gz"),
        file("atlas10k4_random_cdf.csv"),
    ) else {
        return;
    };
    let asks: Vec<Ask> = requests
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split(',').collect();
            Ask {
                write: columns[2] == "W",
                extent: Extent {
                    lbn: columns[0].parse().unwrap(),
                    sectors: columns[1].parse().unwrap(),
                },
            }
        })
        .collect();
    let points: Vec<(f64, f64)> = curve
        .lines()
        .filter_map(|line| line.strip_prefix("real_disk,")?.split_once(','))
        .map(|(ms, share)| (ms.parse().unwrap(), share.parse().unwrap()))
        .collect();
    let measured = |share: f64| {
        let next = points
            .partition_point(|(_, to)| *to < share)
            .min(points.len() - 1);
        let ((x0, p0), (x1, p1)) = (points[next.saturating_sub(1)], points[next]);
        if p1 > p0 {
            x0 + (x1 - x0) * (share - p0) / (p1 - p0)
        } else {
            x1
        }
    };
    let config = preset(
        "atlas-10k-iv",
        json!({"buffer": {"segments": 0, "write_cache": false}}),
    );
    let answers = serve(&mut disk(&config), &asks, &Arrivals::Closed(1));
    let took: Vec<f64> = answers.iter().map(Answer::ms).collect();
    let ours = mean(&took);
    let found = demerit(quantiles(took), measured);
    let drive = "Maxtor Atlas 10K IV, buffer off";
    let found = Found::new(drive, found, 0.092, &format!("{ours:.3}"), "7.957");
    found.is_told();
    assert!(found.demerit <= 0.15, "{}", found.row);
}
