//! Parallelism inside packages: shared commands, and the time of the dies.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use crate::shared;

use wordline_ftl::allocate::Order;
use wordline_runner::Summary;

/// Runs a load on 2 channels x 2 ways of dual-die packages with two planes per die: 16 planes.
fn run(composition: &str, order: &str, workload: &str) -> Summary {
    let config = format!(
        "schema = 1\n[ssd]\nchannels = 2\nways = 2\ncomposition = \"{composition}\"\n\
         [nand.geometry]\ndies_per_package = 2\nplanes_per_die = 2\nblocks_per_plane = 64\n\
         [ftl.allocate.static]\norder = \"{order}\"\n[precondition]\nfill_ratio = 1.0\n\
         [workload]\n{workload}"
    );
    shared::run(config).summary
}

const MIXED: &str = "read_ratio = 0.7\nrequests = 20_000\nrequest_bytes = 16_384\n\
                     align_bytes = 4096";

#[test]
fn command_classes_add_up_to_all_commands() {
    for composition in ["off", "in-order", "greedy"] {
        let summary = run(composition, "PDWC", MIXED);
        let (commands, flash) = (summary.commands, summary.flash);
        let classes = commands.plain
            + commands.planes_shared
            + commands.dies_interleaved
            + commands.dies_interleaved_planes_shared;
        assert_eq!(classes, commands.total);
        let pages = flash.page_reads + flash.page_programs + flash.erases;
        let shared = commands.planes_shared + commands.dies_interleaved_planes_shared;
        // With two planes, a command has one page or two.
        assert_eq!(pages, commands.total + shared, "{composition}");
        assert_eq!(shared == 0, composition == "off");
    }
}

#[test]
fn die_time_components_add_up_to_the_whole_time() {
    for composition in ["off", "greedy"] {
        let summary = run(composition, "CWDP", MIXED);
        let execution = summary.execution;
        let occupied = execution.bus_active + execution.bus_contention + execution.cell_active;
        assert!((occupied + execution.idle - 1.0).abs() < 1e-9);
        let utilisation = summary.utilisation.die_mean;
        assert!(
            (occupied / utilisation - 1.0).abs() < 1e-9,
            "{occupied} {utilisation}"
        );
    }
}

/// Jung 2013, section 3.5.1: plane-first orders need fewer commands than channel-first ones,
/// because adjacent pages are on planes of one die.
#[test]
fn plane_first_orders_need_fewer_commands_than_channel_first_orders() {
    let requests = "read_ratio = 1.0\nrequests = 20_000\nrequest_bytes = 8192\nalign_bytes = 8192";
    let plane_first = run("greedy", "PWCD", requests).commands;
    let channel_first = run("greedy", "CWDP", requests).commands;
    assert!(plane_first.total * 10 < channel_first.total * 6);
    let pages = plane_first.pages_per_command.unwrap();
    assert!(
        pages > 1.9,
        "two pages of a request are one command: {pages}"
    );
}

/// If requests span all planes, all orders have the same bandwidth (Jung 2013, section 3.5.5).
#[test]
fn all_allocation_orders_have_equal_bandwidth_if_requests_span_all_planes() {
    // 16 planes x 4 KiB. With a queue depth of one, every request finds an idle device.
    let requests = "read_ratio = 1.0\npattern = \"sequential\"\nrequests = 2_000\n\
                    request_bytes = 65_536\nalign_bytes = 65_536\n\
                    [workload.arrival.closed-loop]\nqueue_depth = 1";
    let orders = Order::all();
    assert_eq!(orders.len(), 24);
    let bandwidths: Vec<f64> = orders
        .iter()
        .map(|order| run("greedy", &order.to_string(), requests))
        .map(|summary| summary.throughput.read_mb_per_s)
        .collect();
    let (least, most) = bandwidths
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), &each| {
            (least.min(each), most.max(each))
        });
    assert!(most / least < 1.02, "{bandwidths:?}");
}
