//! Trace formats. Each is one file and one line in the list below.
//!
//! A format is detected only from the content of the file, never from its name. `detect` of each
//! format, in the order of the list, receives the first 64 KiB, decompressed. The first format that
//! accepts them reads the file. Text formats are detected by a header, or by the shape of the
//! lines: number of columns, words, decimal points. More than half of the first lines must match,
//! so that a bad line is reported by the reader with its number.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

mod alibaba;
mod arc_lis;
mod biotracer;
mod blkparse;
mod blktrace;
mod columns;
mod diskmon;
mod disksim;
mod disksim_columns;
mod encoding;
mod fio_iolog;
mod hil;
mod key_field;
mod keys32le;
mod keys64le;
mod mqsim;
mod msr;
mod operation;
mod oracle_general;
mod pixel;
mod probe;
mod reader;
mod recognition;
mod record;
mod render;
mod spc;
mod srt;
mod ssdsim;
mod ssdsim_us;
mod systor;
mod tectonic;
mod tencent;
mod vscsi;
mod wordline;

macro_rules! formats {
    ($($Format:ident $name:literal $module:ident $extension:literal $unit:literal $sign:literal $description:literal,)+) => {
        /// Trace format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $(#[doc = $description] $Format,)+
        }

        impl Format {
            /// All formats, in the order of detection.
            pub const ALL: &'static [Self] = &[$(Self::$Format),+];

            /// Returns the name of the format in `--format` and in results.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Format => $name),+ }
            }
            /// Returns the usual file name extension, which precedes a compression extension such
            /// as `.gz`.
            pub const fn extension(self) -> &'static str {
                match self { $(Self::$Format => $extension),+ }
            }
            /// Returns the columns of the format and their units.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$Format => $description),+ }
            }
            /// Returns the unit of the format's time stamps; empty if it has none.
            pub const fn time_unit(self) -> &'static str {
                match self { $(Self::$Format => $unit),+ }
            }
            /// Returns the feature by which the format is detected, for documentation.
            pub const fn sign(self) -> &'static str {
                match self { $(Self::$Format => $sign),+ }
            }
            fn detects(self, probe: &Probe) -> bool {
                match self { $(Self::$Format => $module::detect(probe)),+ }
            }
            /// Returns a reader that starts at the first byte of a file whose start is `probe`.
            pub fn reader(self, probe: &Probe) -> Box<dyn Reader> {
                match self { $(Self::$Format => $module::open(probe)),+ }
            }
        }
    };
}

// Fields of each line: variant, name and module; usual extension; unit of time stamps; feature by
// which the format is detected; columns.
formats! {
    Wordline "wordline" wordline ".csv" "ns" "its header" "Wordline's own CSV, lossless: the header `time_ns,op,offset_bytes,size_bytes,volume`, then lines with time (ns, up to 3 decimals), operation (read, write, trim, flush, or write-fua for a write that is durable on completion), offset (B), size (B), volume; a recording may have a sixth column, `response_ns`",
    FioIolog "fio-iolog" fio_iolog ".iolog" "us" "its first line" "fio iolog, version 2 (no times except `wait`) or version 3 (time in us)",
    Srt "srt" srt ".srt" "us" "its text header" "HP SRT 1.3, binary: a text header up to the byte 0x0C, then records of 14 big-endian 32-bit integers; blocks have 256 B",
    Vscsi "vscsi" vscsi ".vscsi" "us" "operation codes and versions of its 32-byte records" "VMware vscsi version 1, binary: little-endian records of 32 bytes",
    Blktrace "blktrace" blktrace ".blktrace" "ns" "the magic number at the start of its records" "Binary records of blktrace in either byte order: Q events, D events if there is no Q, C events if there is neither; the files of several processors are joined with `blkparse -d`",
    Systor "systor" systor ".csv" "s" "its header, or the types of its six columns" "SYSTOR '17 CSV: time (s), response time (s), R/W, LUN, offset (B), size (B)",
    Tectonic "tectonic" tectonic ".csv" "s" "its header" "Meta Tectonic CSV of CacheBench: time (s), block id, length of the block id, size (B), offset (B), ..., operation, ...",
    Pixel "pixel" pixel ".csv" "s" "its header, or the types of its six columns" "Pixel 6a CSV: process, device, R/W, LBA (512 B), size (sectors), time (s)",
    Msr "msr" msr ".csv" "100 ns" "its header, or the types of its seven columns" "MSR Cambridge CSV, with or without a header: time (100 ns), host, disk, Read/Write, offset (B), size (B), response time",
    Spc "spc" spc ".spc" "s" "at least five comma-separated columns, the fourth r, w, read or write" "SPC (UMass): application-specific unit, LBA (512 B), size (B), r/w, time (s)",
    Tencent "tencent" tencent ".csv" "s" "five comma-separated integers" "Tencent CBS CSV: time (s), offset (512 B), size (sectors), 0 = read or 1 = write, volume",
    Alibaba "alibaba" alibaba ".csv" "us" "its header, or five comma-separated columns, the second R or W" "Alibaba Cloud block storage CSV: volume, R/W, offset (B), size (B), time (us)",
    Diskmon "diskmon" diskmon ".diskmon" "s" "seven columns separated by blanks, the fifth Read or Write" "Sysinternals DiskMon: number, time (s), duration (s), disk, Read/Write, LBA (512 B), size (sectors)",
    Biotracer "biotracer" biotracer ".biotracer" "s" "eight columns of numbers" "BIOtracer (Nexus 5): LBA (512 B), size (sectors), size (B), type (odd = write), four times (s)",
    Blkparse "blkparse" blkparse ".blkparse" "s" "a device as major,minor at the start of the line, and an action of one letter" "Default text output of blkparse: Q events, D events if there is no Q, C events if there is neither",
    Hil "hil" hil ".hil" "ms" "five tab-separated columns, the first with six decimals" "HIL FlashSim, tab-separated: time (ms, 6 decimals), device, LBA (512 B), size (pages of 4 KiB), 1 = read",
    Disksim "disksim" disksim ".disksim" "ms" "five columns, the first with a decimal point" "DiskSim ASCII: time (ms), device, LBA (512 B), size (sectors), 1 = read",
    SsdsimUs "ssdsim-us" ssdsim_us ".ssdsim-us" "us" "five integers that imply more than 8 GB/s if times are ns" "SSDsim's columns with times in microseconds: time (us), device, LBA (512 B), size (sectors), 1 = read",
    Mqsim "mqsim" mqsim ".mqsim" "ns" "five integers that imply at most 8 GB/s if times are ns" "MQSim ASCII: time (ns), device, LBA (512 B), size (sectors), 1 = read",
    Ssdsim "ssdsim" ssdsim ".ssdsim" "ns" "the columns of mqsim" "SSDsim ASCII: the same columns as mqsim, and detected as mqsim",
    ArcLis "arc-lis" arc_lis ".lis" "" "four integers" "ARC paper: first block (512 B), number of blocks, an ignored column, sequence number; no times, all requests are reads",
    OracleGeneral "oracle-general" oracle_general ".oracleGeneral" "s" "24-byte records, most of them with plausible times, sizes and next requests" "libCacheSim, binary and little-endian: time (s, 32 bits), object (64 bits), size (B, 32 bits), next request (64 bits); an object counts as a page of 4 KiB, which the request reads",
    Keys64le "keys64le" keys64le ".keys64le" "" "64-bit numbers below 2^36" "64-bit little-endian numbers of 4-KiB blocks, below 2^36 unless the format is given; no times, all requests are reads",
    Keys32le "keys32le" keys32le ".keys32le" "" "32-bit numbers below 2^28" "32-bit little-endian numbers of 4-KiB blocks, below 2^28 unless the format is given; no times, all requests are reads",
    Columns "columns" columns ".csv" "" "--columns" "Any text table, with or without a header, whose columns `--columns` describes; never detected",
}

use key_field::Width;
use operation::{flag, word};
use probe::{is_decimal, is_number, names};
use reader::{BATCH, Line, Piece, Pieces};
use render::DataLines;

pub use columns::Columns;
pub(crate) use encoding::encoding;
pub use key_field::KeyField;
pub use probe::Probe;
pub use reader::Reader;
pub use recognition::warning;
pub(crate) use record::tick;
pub use record::{Origin, Placed, Record, UNSTATED};
pub use render::Render;

impl Format {
    /// Returns `true` if each record is a read of the page that its key names.
    pub fn is_keys(self) -> bool {
        self.key_field().is_some()
    }
    /// Returns the position of the keys; `None` if the format has none.
    pub fn key_field(self) -> Option<KeyField> {
        let (length, width) = match self {
            Self::Keys32le => (4, Width::Four),
            Self::Keys64le => (8, Width::Eight),
            Self::OracleGeneral => (24, Width::Inside),
            _ => return None,
        };
        Some(KeyField { length, width })
    }
}

impl Format {
    /// Returns a writer of this format; `None` if the format cannot be written. `timed`: whether
    /// the requests have time stamps.
    pub fn render(self, timed: bool) -> Option<Box<dyn Render>> {
        Some(match self {
            Self::Wordline => Box::new(wordline::Lines),
            Self::FioIolog => Box::new(fio_iolog::Lines::new(timed)),
            Self::Msr => Box::new(DataLines(msr::line)),
            Self::Spc => Box::new(DataLines(spc::line)),
            Self::Alibaba => Box::new(DataLines(alibaba::line)),
            Self::Disksim => Box::new(DataLines(disksim::line)),
            Self::Mqsim => Box::new(DataLines(mqsim::line)),
            _ => return None,
        })
    }
    /// Detects the format of a file whose start is `probe`; `None` if no format matches.
    pub fn of(probe: &Probe) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.detects(probe))
    }
    /// Returns the remedy for a file of unknown format whose start is `probe`.
    pub fn remedy(probe: &Probe) -> String {
        let naming = format!(
            "name the format with --format, one of {}, or describe the columns with --columns",
            Self::names()
        );
        if keys32le::is_pairs(probe) {
            return "the file may contain 16-bit numbers: write them with 32 or 64 bits each, or, if they \
                    are 32-bit numbers, pass --format keys32le"
                .to_owned();
        }
        if wordline::resembles(probe) {
            return format!(
                "Wordline's own format starts with the line {}: add that line, or {naming}",
                wordline::HEADER
            );
        }
        naming
    }
    /// Returns the names of all formats, for messages.
    pub fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name);
        found.ok_or_else(|| format!("format: `{name}` is not one of {}", Self::names()))
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
pub(crate) fn parsed<L: Line>(mut line: L, text: &str) -> Result<Option<Record>, String> {
    line.parse(&mut crate::fields::Row::new(text.as_bytes()))
        .map_err(|fault| match fault.column {
            Some(column) => format!("column {column}: {}", fault.reason),
            None => fault.reason,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line or two of each text format must be detected as only that format.
    #[test]
    fn each_format_detects_only_its_own_files() {
        let samples = [
            (
                Format::Wordline,
                "time_ns,op,offset_bytes,size_bytes,volume\n1,read,0,512,0\n",
            ),
            (
                Format::FioIolog,
                "fio version 2 iolog\n/dev/sdb add\n/dev/sdb write 64757760 4096\n",
            ),
            (
                Format::FioIolog,
                "fio version 3 iolog\n0 /dev/sdb add\n5 /dev/sdb write 0 4096\n",
            ),
            (
                Format::Systor,
                "Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.1,R,0,512,512\n",
            ),
            (
                Format::Systor,
                "1456095145.133076000,0.000806000,R,0,899056122368,131072\n",
            ),
            (
                Format::Tectonic,
                "op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,\
                 op_count,host_name,rs_shard_id\n",
            ),
            (
                Format::Pixel,
                "proces,device,rw_flag,sector,size,timestamp\n",
            ),
            (
                Format::Pixel,
                "kworker/4:1H-225,8388608,R,30175712,8,159273.83748699998\n",
            ),
            (
                Format::Msr,
                "128166385295514663,hm,0,Write,9056014336,2048,2833\n",
            ),
            (
                Format::Msr,
                "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                 128166385295514663,hm,0,Write,9056014336,2048,2833\n",
            ),
            (Format::Spc, "0,303567,3584,w,0.000000\n"),
            (Format::Tencent, "1538323200,4247200,128,1,1058\n"),
            (Format::Alibaba, "419,W,8792731648,16384,1577808144360767\n"),
            (
                Format::Diskmon,
                "0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\n",
            ),
            (
                Format::Biotracer,
                "4043872\t\t96\t\t49152\t\t5\t\t1.1\t\t1.2\t\t1.3\t\t1.4\n",
            ),
            (
                Format::Blkparse,
                "  8,33  21  1  0.000000000  6742  D  WS 4194352 + 8 [(null)]\n",
            ),
            (Format::Hil, "640.875000\t0\t522424\t16\t1\n"),
            (Format::Disksim, "7961.833 0 20228336 8 0\n"),
            (Format::SsdsimUs, "0 0 280605840 2 1\n9 0 287641400 128 1\n"),
            (Format::Mqsim, "11413000 0 657728 16 1\n"),
            (Format::ArcLis, "230027 8 0 0\n"),
        ];
        for (expected, text) in samples {
            let probe = Probe {
                bytes: text.as_bytes(),
                whole: true,
            };
            let claimed = |format: &Format| *format != Format::Ssdsim && format.detects(&probe);
            let found: Vec<Format> = Format::ALL.iter().copied().filter(claimed).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn names_of_formats_are_unique_and_parse() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(*format));
        }
    }
}
