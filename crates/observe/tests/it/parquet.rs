//! Parquet files: data is read back unchanged, and no incomplete file remains.
#![allow(clippy::unwrap_used)]

use crate::reader::{fields, read, rows};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wordline_observe::{Finished, Heading, Kind, ParquetFile, RowTable, Table, Values};

const COLUMNS: [(Heading, Kind); 3] = [
    (Heading::new("index", "", "Number of the row"), Kind::U64),
    (
        Heading::new("op", "", "Kind of request"),
        Kind::Word(&["read", "write"]),
    ),
    (Heading::new("latency_ps", "ps", "Response time"), Kind::I64),
];

fn series() -> Table {
    Table::new(vec![
        (
            Heading::new("start_s", "s", "Start of the interval"),
            vec![0.0, 1.5].into(),
        ),
        (
            Heading::new("reads", "", "Requests read"),
            vec![u64::MAX, 0].into(),
        ),
        (Heading::new("block", "", "Block"), vec![1_u32, 2].into()),
        (
            Heading::new("latency_ps", "ps", "Latency"),
            vec![-1_i64, i64::MAX].into(),
        ),
        (
            Heading::new("mean_us", "us", "Mean, null without reads"),
            vec![Some(0.1), None].into(),
        ),
        (
            Heading::new("utilisation", "", "Utilisation of each lane"),
            Values::Lists {
                lanes: 3,
                values: vec![0.0, 0.5, 1.0, 0.25, 0.75, 0.1],
            },
        ),
        (
            Heading::new("op", "", "Kind of request"),
            Values::Words {
                words: &["all", "read", "write"],
                codes: vec![2, 0],
            },
        ),
    ])
    .unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn types_nulls_lists_and_headings_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.parquet");
    let table = series();
    table.write_parquet(&path).unwrap();
    assert_eq!(&fields(&path), table.schema().fields());
    assert_eq!(read(&path), rows(&table));
    assert_eq!(names(folder.path()), ["series.parquet"]);
}

#[test]
fn streamed_rows_equal_kept_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("requests.parquet");
    let rows = RowTable::<3>::BATCH as u64 * 2 + 5;
    let mut kept = RowTable::in_memory(COLUMNS);
    let mut written = RowTable::to_parquet(COLUMNS, &path).unwrap();
    for row in 0..rows {
        let row = [row, row % 2, row.wrapping_mul(0x9e37_79b9) >> 3];
        kept.push(row).unwrap();
        written.push(row).unwrap();
    }
    assert!(!path.exists(), "the file appears when it is complete");
    let Finished::Written(count) = written.finish().unwrap() else {
        panic!("expected a written file")
    };
    let Finished::Kept(table) = kept.finish().unwrap() else {
        panic!("expected a table in memory")
    };
    assert_eq!(count, rows);
    let other = folder.path().join("kept.parquet");
    table.write_parquet(&other).unwrap();
    let back = read(&path);
    assert_eq!(back, read(&other));
    assert_eq!(back, self::rows(&table));
    assert_eq!(back.len() as u64, rows);
}

#[test]
fn empty_table_is_written_as_a_readable_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("requests.parquet");
    RowTable::to_parquet(COLUMNS, &path)
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(read(&path).len(), 0);
}

#[test]
fn unfinished_file_is_removed_when_dropped_and_the_older_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.parquet");
    fs::write(&path, "older").unwrap();
    let mut file = ParquetFile::create(&path, series().schema()).unwrap();
    file.write(&series().batches()[0]).unwrap();
    drop(file);
    assert_eq!(names(folder.path()), ["series.parquet"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "older");
}

#[test]
fn older_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.parquet");
    fs::write(&path, "older").unwrap();
    series().write_parquet(&path).unwrap();
    assert_eq!(read(&path), rows(&series()));
}

#[test]
fn unwritable_paths_are_refused_with_path_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let cases = [
        (
            folder.path().join("missing/x.parquet"),
            "create the folder, or choose another one",
        ),
        (
            file.join("x.parquet"),
            "create the folder, or choose another one",
        ),
        (folder.path().to_owned(), "give the name of a regular file"),
        (folder.path().join(".."), "give the name of a regular file"),
    ];
    for (path, remedy) in cases {
        let message = series().write_parquet(&path).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("{}: cannot create: ", path.display())),
            "{message}"
        );
        assert!(
            message.ends_with(remedy) && message.lines().count() == 1,
            "{message}"
        );
    }
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn batch_of_another_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let other = Table::new(vec![(COLUMNS[0].0, vec![1_u64].into())]).unwrap();
    let mut file = ParquetFile::create(&path, series().schema()).unwrap();
    let message = file.write(&other.batches()[0]).unwrap_err().to_string();
    assert!(
        message.contains("x.parquet: the table cannot be written as Parquet: "),
        "{message}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn directory_without_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write there nevertheless, but cannot create a file in a directory of the
    // kernel.
    let superuser = fs::write(folder.path().join("probe"), "").is_ok();
    let folder = if superuser {
        Path::new("/sys")
    } else {
        folder.path()
    };
    let path = folder.join("x.parquet");
    let message = series().write_parquet(&path).unwrap_err().to_string();
    assert!(
        message.ends_with("choose a folder you may write to"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn symbolic_link_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (
        folder.path().join("real.parquet"),
        folder.path().join("link.parquet"),
    );
    fs::write(&real, "older").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    series().write_parquet(&link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(read(&real), rows(&series()));
}

#[cfg(target_os = "linux")]
#[test]
fn device_file_is_never_replaced() {
    let message = series()
        .write_parquet(Path::new("/dev/full"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("not a regular file; give the name of a regular file"),
        "{message}"
    );
    assert!(!Path::new("/dev/full").is_file());
}

/// Redirects the writes of a file to `/dev/full`. A part is locked and there is only one
/// `/dev/full`, so tests that use it run one at a time.
#[cfg(target_os = "linux")]
fn fill_up(file: &Path) -> MutexGuard<'static, ()> {
    static FULL: Mutex<()> = Mutex::new(());
    let turn = FULL.lock().unwrap_or_else(PoisonError::into_inner);
    std::os::unix::fs::symlink("/dev/full", file.with_added_extension("part")).unwrap();
    turn
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let _turn = fill_up(&path);
    let message = series().write_parquet(&path).unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("{}: cannot write: ", path.display())),
        "{message}"
    );
    assert!(
        message.ends_with("free space there, or choose another folder"),
        "{message}"
    );
    assert!(names(folder.path()).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn disk_that_fills_up_during_a_run_is_reported_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let _turn = fill_up(&path);
    let mut table = RowTable::to_parquet(COLUMNS, &path).unwrap();
    let full = (0..3 << 20)
        .find_map(|row| table.push([row, 0, row]).err())
        .unwrap()
        .to_string();
    assert!(
        full.ends_with("free space there, or choose another folder"),
        "{full}"
    );
    assert!(table.finish().is_err());
    assert!(names(folder.path()).is_empty());
}
