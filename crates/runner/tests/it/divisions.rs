//! Partition of the flash in front of a disk: write hits by list, the chosen sizes, and the sizes
//! after a power cut.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use std::fmt::Write as _;

use wordline_kernel::Rng;
use wordline_runner::summary::CacheSummary;
use wordline_runner::{RunSpec, Summary};

/// Flash of 512 pages in front of a disk.
const STORE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 1\nways = 1\n\
    [nand.geometry]\nplanes_per_die = 1\nblocks_per_plane = 32\npages_per_block = 16\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.4\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n\
    [disk]\ncapacity_bytes = 16_777_216\n[cache]\nmode = \"write-back\"\nreplacement = \"lru\"\n";
const LOAD: &str = "[workload]\nrequests = 6000\nread_ratio = 0.6\nrequest_bytes = 4096\nalign_bytes = 4096\n\
    pattern.zipf.theta = 0.9\nworking_set_ratio = 0.25\narrival.closed-loop.queue_depth = 4\n";

fn run(job: &RunSpec) -> Summary {
    let done = job.run(&mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(done.results.summary.error, None);
    done.results.summary
}

fn job(config: String) -> RunSpec {
    RunSpec {
        config,
        config_name: "test.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

/// Two lists of pages, most recent first.
#[derive(Default)]
struct Lists {
    reads: Vec<u64>,
    writes: Vec<u64>,
    /// Writes that found their page in the write list, in the read list, or in neither. Counts.
    found: [u64; 3],
}

impl Lists {
    fn take(list: &mut Vec<u64>, page: u64) -> bool {
        let place = list.iter().position(|held| *held == page);
        place.map(|place| list.remove(place)).is_some()
    }
    fn serve(&mut self, write: bool, page: u64, sizes: [usize; 2]) {
        let in_writes = Self::take(&mut self.writes, page);
        let in_reads = Self::take(&mut self.reads, page);
        if write {
            self.found[if in_writes {
                0
            } else {
                2 - usize::from(in_reads)
            }] += 1;
        }
        let list = if write || in_writes {
            &mut self.writes
        } else {
            &mut self.reads
        };
        list.insert(0, page);
        self.reads.truncate(sizes[0]);
        self.writes.truncate(sizes[1]);
    }
}

/// Requests for single pages arrive a second apart, so that each request finishes before the next.
#[test]
fn write_hits_by_list_match_two_plain_lists() {
    let mut random = Rng::new(7, "divisions");
    let requests: Vec<(bool, u64)> = (0..3_000)
        .map(|_| (random.below(2) == 0, random.below(20) * random.below(20)))
        .collect();
    let mut text = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
    for (place, (write, page)) in (0_u64..).zip(&requests) {
        let op = if *write { "write" } else { "read" };
        writeln!(
            text,
            "{},{op},{},4096,0",
            place * 1_000_000_000,
            page * 4096
        )
        .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.csv");
    std::fs::write(&path, text).unwrap();
    let config = format!(
        "{STORE}partition = {{ split = {{ read_ratio = 0.3 }} }}\ndestage.group_pages = 1\n\
         [ftl.gc]\nstart_free_pages = 16\nstart_free_ratio = 0.0\n"
    );
    let config = config.replace(
        "over_provisioning_ratio = 0.4",
        "over_provisioning_ratio = 0.8",
    );
    let cache = run(&RunSpec {
        traces: vec![path],
        ..job(config)
    })
    .cache
    .unwrap();
    let sizes = [cache.read_size_pages, cache.write_size_pages].map(|size| size as usize);
    assert!(sizes[0] > 10 && sizes[1] > 2 * sizes[0], "{sizes:?}");
    let mut lists = Lists::default();
    for (write, page) in requests {
        lists.serve(write, page, sizes);
    }
    let [of_writes, of_reads, missed] = lists.found;
    assert!(
        of_writes > 100 && of_reads > 50 && missed > 100,
        "{:?}",
        lists.found
    );
    assert_eq!(cache.write_hits_in_write_list, of_writes);
    assert_eq!(cache.write_hits_in_read_list, of_reads);
    assert_eq!(cache.write_misses, missed);
    assert_eq!(cache.write_hits, of_writes + of_reads);
}

fn assert_divides_all(cache: &CacheSummary) {
    let sizes = cache.read_size_pages + cache.write_size_pages + cache.over_provisioning_pages;
    assert_eq!(sizes, cache.flash_pages);
}

#[test]
fn chosen_sizes_add_up_to_the_flash() {
    for (partition, is_split) in [
        ("\"unified\"", false),
        ("\"split\"", true),
        ("\"op-fcl\"", false),
        ("{ rw-fcl = { period_requests = 500 } }", true),
        ("{ op-fcl = { period_requests = 500 } }", true),
    ] {
        let cache = run(&job(format!("{STORE}partition = {partition}\n{LOAD}")));
        let cache = cache.cache.unwrap();
        assert_divides_all(&cache);
        assert_eq!(cache.read_size_pages > 0, is_split, "{partition}");
        assert!(cache.resident_pages <= cache.read_size_pages + cache.write_size_pages);
        let start = cache.read_size_pages + cache.write_size_pages == cache.capacity_pages;
        assert_eq!(
            start,
            cache.divisions == 0 || partition.contains("rw-fcl"),
            "{partition}"
        );
    }
}

/// A partition policy counts requests in volatile memory, so no period ends if power cuts are more
/// frequent than periods.
#[test]
fn list_sizes_do_not_change_if_power_cuts_interrupt_every_period() {
    let config = format!("{STORE}partition = {{ op-fcl = {{ period_requests = 1500 }} }}\n{LOAD}");
    let kept = run(&job(config.clone())).cache.unwrap();
    assert!(kept.divisions > 0);
    let cut = run(&RunSpec {
        power_cut_every: Some(50),
        ..job(config.clone())
    });
    assert!(cut.power.unwrap().cuts > 60);
    let cut = cut.cache.unwrap();
    assert_eq!(cut.divisions, 0);
    assert_eq!(
        cut.read_size_pages + cut.write_size_pages,
        cut.capacity_pages
    );
    assert_divides_all(&cut);
    // Periods that end between two cuts change the sizes.
    let rare = run(&RunSpec {
        power_cut_every: Some(50),
        ..job(config.replace("1500", "20"))
    });
    assert!(rare.cache.unwrap().divisions > 0);
}
