//! The on-board buffer, on a disk whose times are round: 10 ms a revolution, 100 sectors a track, two heads, 1 ms to any cylinder, and 10 us
//! a sector on the bus.

use serde_json::{Value, json};
use wordline_block::BlockDevice;
use wordline_hdd::Config;
use wordline_hdd::extent::Extent;

use super::host::{Answer, Arrivals, Ask, disk, lay, ms, serve};

/// Commands take 0.1 ms (reads that hit), 0.2 (other reads), 0.3 (writes that hit) and 0.4 (other writes).
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

/// Response times of requests, each issued a number of milliseconds after the completion of the one before.
fn times(config: &Config, asks: &[(Ask, f64)]) -> Vec<f64> {
    let gaps = asks.iter().skip(1).map(|(_, gap)| ms(*gap));
    let gaps = gaps.chain([ms(0.0)]).collect();
    let asks: Vec<Ask> = asks.iter().map(|(ask, _)| *ask).collect();
    let answers = serve(&mut disk(config), &asks, &Arrivals::Think(gaps));
    let rounded = |answer: &Answer| (answer.ms() * 1e6).round() / 1e6;
    answers.iter().map(rounded).collect()
}

/// Of three writes of 10 sectors the second follows the first while it is destaged, the third goes elsewhere when all is on the platters.
#[test]
fn a_write_that_joins_is_a_hit_and_one_in_a_segment_of_its_own_where_the_disk_counts_it() {
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

/// A read of the first 10 sectors of a track is followed, when the read-ahead is over, by one of its last and by one of the first of the next.
#[test]
fn reading_ahead_to_the_end_of_the_track_stops_there() {
    let asks = [
        (ask(false, 0, 10), 0.0),
        (ask(false, 90, 10), 100.0),
        (ask(false, 100, 10), 100.0),
    ];
    let took = |how: &str| times(&round(json!({"buffer": {"read_ahead": how}})), &asks);
    assert_eq!(took("track"), [11.01, 0.2, 9.8]);
    assert_eq!(took("segment"), [11.01, 0.2, 0.2]);
}

/// The data in the segment begins on the track before, so the next track is read, too, as far as there is room.
#[test]
fn a_stream_over_a_track_end_is_read_ahead_by_a_track() {
    let config = round(json!({"buffer": {"read_ahead": "track"}}));
    let asks = [(ask(false, 95, 10), 0.0), (ask(false, 240, 10), 100.0)];
    assert_eq!(times(&config, &asks)[1], 0.2);
}

/// The head comes down at sector 2 and waits for sector 50.
#[test]
fn sectors_on_the_way_to_a_read_are_kept_where_the_disk_keeps_them() {
    let asks = [(ask(false, 50, 10), 0.0), (ask(false, 2, 8), 100.0)];
    let took = |kept: bool| times(&round(json!({"buffer": {"read_lead": kept}})), &asks);
    assert_eq!(took(true), [6.01, 0.18]);
    assert_eq!(took(false), [6.01, 5.0]);
}

#[test]
fn what_writes_leave_in_the_buffer_serves_reads_only_where_the_disk_keeps_it() {
    let took = |kept: bool, gap: f64| {
        let buffer = json!({"write_cache": true, "read_written": kept});
        let asks = [(ask(true, 0, 10), 0.0), (ask(false, 0, 10), gap)];
        times(&round(json!({ "buffer": buffer })), &asks)
    };
    assert_eq!(took(true, 100.0), [0.5, 0.2]);
    assert_eq!(took(false, 100.0), [0.5, 10.51]);
    assert_eq!(took(true, 0.0), [0.5, 0.2]);
    // On the platters at 11.0; the read begins then, and misses a revolution.
    assert_eq!(took(false, 0.0), [0.5, 20.51]);
}

/// The head is between sectors 95 and 100 when a read of 95 to 104 comes, whose first five are in the buffer.
#[test]
fn a_read_whose_first_sectors_are_in_the_buffer_waits_for_the_others_alone() {
    let asks = [(ask(false, 90, 10), 0.0), (ask(false, 95, 10), 99.69)];
    assert_eq!(times(&round(json!({})), &asks), [10.01, 0.81]);
}

/// The head comes down at sector 2 of the first 50: these are under it at 10.2 ms, the first of them at 10.1; then all go over the bus.
#[test]
fn data_read_in_the_order_of_the_platter_goes_over_the_bus_in_that_of_its_numbers() {
    let zero_latency = json!({"model": {"positioned": {"zero_latency_reads": true}}});
    assert_eq!(
        times(&round(zero_latency), &[(ask(false, 0, 50), 0.0)]),
        [10.6]
    );
}

/// While the arm seeks for a read a second one comes for what is in the buffer.
#[test]
fn a_held_bus_keeps_the_buffer_from_serving_another_command() {
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
fn completions_take_their_time_behind_the_data() {
    let config =
        round(json!({"overhead": {"read_completion_us": 50.0, "write_completion_us": 70.0}}));
    assert_eq!(times(&config, &[(ask(false, 0, 10), 0.0)]), [11.06]);
    assert_eq!(times(&config, &[(ask(true, 0, 10), 0.0)]), [11.07]);
}

/// Sectors 95 to 98 of a track hold numbers 90 to 93, sector 99 none, and the next track begins with 94.
#[test]
fn the_spare_at_the_end_of_each_track_passes_without_a_number() {
    let zone = json!({
        "cylinders": 10, "sectors_per_track": 100, "spare_sectors_per_track": 1,
        "reserved_sectors": 5, "spare_sectors": 3,
    });
    let config = round(json!({"model": {"positioned": {"zones": [zone]}}}));
    assert_eq!(disk(&config).user_bytes() / 512, 10 * 2 * 99 - 8);
    assert_eq!(times(&config, &[(ask(false, 90, 10), 0.0)]), [10.61]);
}

/// The first zone has numbers up to the middle of its last track; then the arm moves.
#[test]
fn a_read_over_the_end_of_a_zone_goes_on_in_the_next() {
    let zones = json!([
        {"cylinders": 1, "sectors_per_track": 100, "spare_sectors": 50},
        {"cylinders": 9, "sectors_per_track": 100},
    ]);
    let config = round(json!({"model": {"positioned": {"zones": zones}}}));
    assert_eq!(times(&config, &[(ask(false, 145, 10), 0.0)]), [10.51]);
}
