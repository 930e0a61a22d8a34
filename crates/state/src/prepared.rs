//! Devices that are prepared once for many runs.
//!
//! Preparation depends only on the flash array, the FTL, the preconditioning and the seed. A device
//! with another scheduler, interface, buffer or load can therefore use the same file.

use std::hash::Hasher;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use twox_hash::XxHash3_64;
use wordline_config::Plan;
use wordline_ftl::Map;
use wordline_ftl::precondition::Preconditioned;
use wordline_ssd::{Prepared, Ssd};

use wordline_state_file::{self as file, Header, Reader, StateError, kind};

/// Returns everything that preparation depends on, except the seed: an entry per SSD, by
/// configuration key.
fn basis(plan: &Plan) -> Value {
    let own = plan.own_ssds().into_iter();
    own.map(|(_, ssd)| {
        let ftl = &ssd.device.ftl;
        let part = &ssd.device.part;
        json!({
            "ftl": ftl.config,
            "ssd": ftl.dimensions,
            "nand": {
                "geometry": {"layout": ftl.layout, "page_bytes": ftl.page_bytes},
                "endurance_cycles": part.endurance_cycles,
                "partial_programs": part.partial_programs,
            },
            "precondition": {
                "fill_pages": ssd.precondition.fill_pages,
                "scattered": ssd.precondition.scattered,
                "overwrite_pages": ssd.precondition.overwrite_pages,
                "settle": format!("{:?}", ssd.precondition.settle),
            },
        })
    })
    .collect()
}

/// Returns a key of the preparation of `plan`: equal for plans with equal preparations.
pub fn key(plan: &Plan, spare_areas: bool) -> String {
    let mut hash = XxHash3_64::new();
    let own = plan.own_ssds().into_iter();
    let seeds: Vec<u64> = own.map(|(_, ssd)| ssd.seed).collect();
    hash.write(format!("{} {seeds:?} {spare_areas}", basis(plan)).as_bytes());
    format!("{:016x}", hash.finish())
}

/// Prepared devices of a plan: as values, or as references for writing.
#[derive(Serialize, Deserialize)]
struct Devices<Done, Device> {
    /// Preconditioning of each device.
    done: Done,
    devices: Vec<Device>,
}

/// Writes prepared devices. If they have spare areas, runs with power cuts can use the file.
/// Returns the size of the file. Bytes.
pub fn write(
    path: &Path,
    plan: &Plan,
    spare_areas: bool,
    command: &Value,
    (ssds, done): (&[Ssd<Map>], &[Preconditioned]),
) -> Result<u64, StateError> {
    let content = json!({
        "command": command,
        "basis": basis(plan),
        "key": key(plan, spare_areas),
        "seed": plan.seed,
        "spare_areas": spare_areas,
    });
    let devices = ssds.iter().map(Ssd::prepared).collect();
    let state = Devices { done, devices };
    file::write(path, kind::DEVICE, content, &|to| to.put(&state))
}

/// Restores the state in a file to new devices of a plan.
pub fn read(
    path: &Path,
    plan: &Plan,
    spare_areas: bool,
    ssds: &mut [Ssd<Map>],
) -> Result<Vec<Preconditioned>, StateError> {
    let header = file::header(path)?;
    require_equal(path, &header, plan, spare_areas)?;
    let state: Devices<Vec<Preconditioned>, Prepared<Map>> =
        file::read(path, kind::DEVICE, Reader::take)?;
    let Devices { done, devices } = state;
    for (ssd, prepared) in ssds.iter_mut().zip(devices) {
        ssd.prepare(prepared);
    }
    Ok(done)
}

fn require_equal(
    path: &Path,
    header: &Header,
    plan: &Plan,
    spare_areas: bool,
) -> Result<(), StateError> {
    if header.kind != kind::DEVICE {
        return Ok(()); // reported when the state is read
    }
    let prepared = &header.content["basis"];
    let mut others = Vec::new();
    differences("", prepared, &basis(plan), &mut others);
    if !others.is_empty() {
        others.truncate(4);
        return Err(StateError::new(
            path,
            format!("holds the state of another device: {}", others.join(", ")),
            "prepare a state of this device, or set these keys back",
        ));
    }
    let (prepared, asked) = (&header.content["seed"], plan.seed);
    if *prepared != asked {
        return Err(StateError::new(
            path,
            format!("was prepared with seed {prepared}, and the run has seed {asked}"),
            format!("give the run seed {prepared}, or prepare the device with seed {asked}"),
        ));
    }
    if spare_areas && header.content["spare_areas"] != true {
        let remedy = "prepare the device with --spare-areas, or leave out --power-cut-every";
        return Err(StateError::new(
            path,
            "holds no spare areas to recover from",
            remedy,
        ));
    }
    Ok(())
}

/// Collects the differences of two bases: key, value in the file, value of the run.
fn differences(key: &str, prepared: &Value, asked: &Value, found: &mut Vec<String>) {
    match (prepared, asked) {
        (Value::Object(one), Value::Object(other)) => {
            let more = other.iter().filter(|(name, _)| !one.contains_key(*name));
            for name in one.keys().chain(more.map(|(name, _)| name)) {
                let path = if key.is_empty() {
                    name.clone()
                } else {
                    format!("{key}.{name}")
                };
                differences(&path, &prepared[name], &asked[name], found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (one, other) in one.iter().zip(other) {
                differences(key, one, other, found);
            }
        }
        (one, other) if one != other => found.push(format!("{key} is {one}, not {other}")),
        _ => {}
    }
}
