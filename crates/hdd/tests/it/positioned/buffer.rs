//! Tests of the on-board buffer, on a disk with round times: 10 ms per revolution, 100 sectors per
//! track, two heads, 1 ms to any cylinder, and 10 us per sector on the bus.

use serde_json::{Value, json};
use wordline_block::BlockDevice;
use wordline_hdd::Config;
use wordline_hdd::extent::Extent;

use super::host::{Answer, Arrivals, Ask, disk, lay, ms, serve};

/// Returns a configuration in which commands take 0.1 ms (read hits), 0.2 ms (other reads), 0.3 ms
/// (write hits) and 0.4 ms (other writes).
fn round(over: Value) -> Config {
    let commands = json!({"read_hit_us": 100.0, "read_miss_us": 200.0, "write_hit_us": 300.0, "write_miss_us": 400.0});
    let mut table = json!({
        "model": {"positioned": {
            "rpm": 6000.0, "heads": 2, "seek": [[1, 1.0]],
            "zones": [{"cylinders": 10, "sectors_per_track": 100}],
        }},
        "overhead": {"after_read": commands, "after_write": commands, "bus_us_per_sector": 10.0},
        "buffer": {"segments": 4, "segment_sectors": 150},
    });
    lay(&mut table, over);
    serde_json::from_value(table).unwrap()
}

fn ask(write: bool, lbn: u64, sectors: u64) -> Ask {
    Ask {
        write,
        extent: Extent { lbn, sectors },
    }
}

/// Returns the response times of requests in milliseconds. Each request is issued the given number
/// of milliseconds after the completion of the previous one.
fn times(config: &Config, asks: &[(Ask, f64)]) -> Vec<f64> {
    let gaps = asks.iter().skip(1).map(|(_, gap)| ms(*gap));
    let gaps = gaps.chain([ms(0.0)]).collect();
    let asks: Vec<Ask> = asks.iter().map(|(ask, _)| *ask).collect();
    let answers = serve(&mut disk(config), &asks, &Arrivals::Think(gaps));
    let rounded = |answer: &Answer| (answer.ms() * 1e6).round() / 1e6;
    answers.iter().map(rounded).collect()
}

/// Of three writes of 10 sectors, the second continues the first during its destage. The third goes
/// elsewhere after all data has reached the platters.
#[test]
fn writes_that_continue_a_buffered_write_are_hits_and_others_only_if_configured() {
    let asks = [
        (ask(true, 0, 10), 0.0),
        (ask(true, 10, 10), 0.0),
        (ask(true, 500, 10), 100.0),
    ];
    let took = |which: &str| {
        let buffer = json!({"write_cache": true, "write_hit": which});
        times(&round(json!({ "buffer": buffer })), &asks)
    };
    assert_eq!(took("joining"), [0.5, 0.4, 0.5]);
    assert_eq!(took("buffered"), [0.4, 0.4, 0.4]);
}

/// A read of the first 10 sectors of a track is followed by read-ahead. Then the last sectors of
/// the track and the first sectors of the next track are read.
#[test]
fn read_ahead_by_track_stops_at_the_end_of_the_track() {
    let asks = [
        (ask(false, 0, 10), 0.0),
        (ask(false, 90, 10), 100.0),
        (ask(false, 100, 10), 100.0),
    ];
    let took = |how: &str| times(&round(json!({"buffer": {"read_ahead": how}})), &asks);
    assert_eq!(took("track"), [11.01, 0.2, 9.8]);
    assert_eq!(took("segment"), [11.01, 0.2, 0.2]);
}

/// The data in the segment starts on the previous track, so the next track is read too, up to the
/// size of the segment.
#[test]
fn a_stream_that_crosses_a_track_boundary_is_read_ahead_to_the_end_of_the_next_track() {
    let config = round(json!({"buffer": {"read_ahead": "track"}}));
    let asks = [(ask(false, 95, 10), 0.0), (ask(false, 240, 10), 100.0)];
    assert_eq!(times(&config, &asks)[1], 0.2);
}

/// The head reaches the track at sector 2 and waits until sector 50.
#[test]
fn sectors_before_a_read_are_kept_only_if_configured() {
    let asks = [(ask(false, 50, 10), 0.0), (ask(false, 2, 8), 100.0)];
    let took = |kept: bool| times(&round(json!({"buffer": {"read_lead": kept}})), &asks);
    assert_eq!(took(true), [6.01, 0.18]);
    assert_eq!(took(false), [6.01, 5.0]);
}

#[test]
fn written_data_serves_reads_only_if_configured() {
    let took = |kept: bool, gap: f64| {
        let buffer = json!({"write_cache": true, "read_written": kept});
        let asks = [(ask(true, 0, 10), 0.0), (ask(false, 0, 10), gap)];
        times(&round(json!({ "buffer": buffer })), &asks)
    };
    assert_eq!(took(true, 100.0), [0.5, 0.2]);
    assert_eq!(took(false, 100.0), [0.5, 10.51]);
    assert_eq!(took(true, 0.0), [0.5, 0.2]);
    // The data is on the platters at 11.0 ms. The read starts then and waits for the next
    // revolution.
    assert_eq!(took(false, 0.0), [0.5, 20.51]);
}

/// A read of sectors 95 to 104 arrives when the head is between sectors 95 and 100. The first five
/// sectors are in the buffer.
#[test]
fn a_partial_buffer_hit_waits_only_for_the_remaining_sectors() {
    let asks = [(ask(false, 90, 10), 0.0), (ask(false, 95, 10), 99.69)];
    assert_eq!(times(&round(json!({})), &asks), [10.01, 0.81]);
}

/// The head reaches the track at sector 2 of the 50 that are read. The last of them has passed at
/// 10.2 ms, the first at 10.1 ms. Then all sectors cross the bus.
#[test]
fn sectors_cross_the_bus_in_order_of_their_numbers() {
    let zero_latency = json!({"model": {"positioned": {"zero_latency_reads": true}}});
    assert_eq!(
        times(&round(zero_latency), &[(ask(false, 0, 50), 0.0)]),
        [10.6]
    );
}

/// A read arrives whose data is in the buffer while the arm seeks for another read.
#[test]
fn a_held_bus_prevents_the_buffer_from_serving_another_command() {
    let asks = [ask(false, 0, 10), ask(false, 500, 10), ask(false, 0, 10)];
    let took = |held: bool| {
        let config = round(json!({"overhead": {"bus_held": held}}));
        let arrivals = Arrivals::Open([0.0, 100.0, 101.0].map(ms).to_vec());
        let mut answers = serve(&mut disk(&config), &asks, &arrivals);
        answers.sort_by_key(|answer| answer.place);
        let rounded = |answer: &Answer| (answer.ms() * 1e6).round() / 1e6;
        answers.iter().map(rounded).collect::<Vec<f64>>()
    };
    assert_eq!(took(false), [11.01, 11.01, 0.2]);
    assert_eq!(took(true), [11.01, 11.01, 10.21]);
}

#[test]
fn completion_overhead_follows_the_data_transfer() {
    let config =
        round(json!({"overhead": {"read_completion_us": 50.0, "write_completion_us": 70.0}}));
    assert_eq!(times(&config, &[(ask(false, 0, 10), 0.0)]), [11.06]);
    assert_eq!(times(&config, &[(ask(true, 0, 10), 0.0)]), [11.07]);
}

/// Sectors 95 to 98 of a track have the numbers 90 to 93. Sector 99 has no number, and the next
/// track starts with number 94.
#[test]
fn spare_sectors_at_the_end_of_a_track_have_no_number() {
    let zone = json!({
        "cylinders": 10, "sectors_per_track": 100, "spare_sectors_per_track": 1,
        "reserved_sectors": 5, "spare_sectors": 3,
    });
    let config = round(json!({"model": {"positioned": {"zones": [zone]}}}));
    assert_eq!(disk(&config).user_bytes() / 512, 10 * 2 * 99 - 8);
    assert_eq!(times(&config, &[(ask(false, 90, 10), 0.0)]), [10.61]);
}

/// The numbers of the first zone end in the middle of its last track. The arm then moves to the
/// next zone.
#[test]
fn a_read_across_the_end_of_a_zone_continues_in_the_next() {
    let zones = json!([
        {"cylinders": 1, "sectors_per_track": 100, "spare_sectors": 50},
        {"cylinders": 9, "sectors_per_track": 100},
    ]);
    let config = round(json!({"model": {"positioned": {"zones": zones}}}));
    assert_eq!(times(&config, &[(ask(false, 145, 10), 0.0)]), [10.51]);
}
