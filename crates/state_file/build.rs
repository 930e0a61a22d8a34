//! Computes an identifier of this build from its sources. A saved state can only be read by the
//! build that wrote it, because it has the layout of the program's structures.
#![allow(missing_docs)]

use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash64;

fn main() -> io::Result<()> {
    // Relative to the package, where Cargo runs this script, so that a copy of the sources
    // elsewhere is the same build.
    let crates = Path::new("..");
    let mut sources = Vec::new();
    for one in fs::read_dir(crates)? {
        let folder = one?.path().join("src");
        println!("cargo:rerun-if-changed={}", folder.display());
        find(&folder, &mut sources)?;
    }
    sources.sort();
    let mut hash = XxHash64::with_seed(0);
    for source in sources {
        let name = source.strip_prefix(crates).unwrap_or(&source);
        hash.write(name.as_os_str().as_encoded_bytes());
        hash.write(&fs::read(&source)?);
    }
    println!("cargo:rustc-env=WORDLINE_BUILD={:016x}", hash.finish());
    Ok(())
}

fn find(folder: &Path, sources: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for one in fs::read_dir(folder)? {
        let path = one?.path();
        if path.is_dir() {
            find(&path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(path);
        }
    }
    Ok(())
}
