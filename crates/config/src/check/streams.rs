//! Checks the streams and their generated loads.

use wordline_kernel::Rng as Random;
use wordline_workload::{Disk, generate};

use super::name;
use super::replay::replay;
use crate::plan::{self, Plan, Replay};
use crate::streams::MAX_STREAMS;
use crate::{Config, ConfigError, Stream};

/// Checks each stream, and the rules that span several streams.
pub(super) fn streams(
    config: &Config,
    plan: &Plan,
    seed: u64,
) -> Result<Vec<plan::Stream>, ConfigError> {
    let streams = &config.streams;
    if config.workload.is_some() && !streams.is_empty() {
        return Err(ConfigError::conflict(
            "workload",
            "both [workload] and [[streams]] are given",
            "move the load into a stream as its `workload` table, or leave one of them out",
        )
        .with(&["streams"]));
    }
    if streams.len() > MAX_STREAMS {
        return Err(ConfigError::conflict(
            "streams",
            format!("the configuration has {} streams", streams.len()),
            format!("give at most {MAX_STREAMS} streams"),
        ));
    }
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    let all = streams.iter().enumerate();
    all.map(|(place, stream)| {
        name::name(
            "stream",
            &format!("streams[{place}].name"),
            names[place],
            &names[..place],
        )?;
        Ok(plan::Stream {
            name: stream.name.clone(),
            class: stream.class,
            workload: stream.workload.clone(),
            replay: replay_of(config, place)?,
            disk: disk_of(stream, plan, place)?,
            seed: Random::new(seed, &format!("stream.{}", stream.name)).bits(),
        })
    })
    .collect()
}

/// Returns the disk to which a stream's addresses refer; `None` for the whole store.
fn disk_of(stream: &Stream, plan: &Plan, place: usize) -> Result<Option<Disk>, ConfigError> {
    let Some(number) = stream.disk else {
        return Ok(None);
    };
    let known = plan.volumes();
    let disk = known.iter().find(|disk| disk.number == number);
    if disk.is_some() {
        return Ok(disk.copied());
    }
    let numbers: Vec<String> = known.iter().map(|disk| disk.number.to_string()).collect();
    let remedy = if numbers.is_empty() {
        "give an [array] with layout = \"by-disk\", or omit `disk`".to_owned()
    } else {
        format!(
            "name the disk in array.members.disks, or choose one of {}",
            numbers.join(", ")
        )
    };
    let key = format!("streams[{place}].disk");
    Err(ConfigError::rule(
        &key,
        number,
        "no member of an array holds this disk",
        remedy,
    ))
}

/// Returns the rule by which the requests of a stream are issued.
fn replay_of(config: &Config, place: usize) -> Result<Replay, ConfigError> {
    let stream = &config.streams[place];
    let Some(own) = &stream.replay else {
        return Ok(replay(&config.replay.mode));
    };
    let key = format!("streams[{place}].replay");
    if stream.workload.is_some() {
        return Err(ConfigError::conflict(
            &key,
            format!("{key}: applies to traces, and this stream has a workload"),
            "omit `replay`; `workload.arrival` decides when the requests are issued",
        ));
    }
    Ok(replay(&own.mode))
}

/// Checks the generated workloads against the rules of the generator.
pub(super) fn workloads(plan: &Plan) -> Result<(), ConfigError> {
    let all = plan.user_bytes();
    let single = plan.workload.iter();
    let single = single.map(|load| (String::new(), load, all));
    let several = plan.streams.iter().enumerate();
    let several = several.filter_map(|(place, stream)| {
        let bytes = stream.disk.map_or(all, |disk| disk.bytes);
        Some((
            format!("streams[{place}]."),
            stream.workload.as_ref()?,
            bytes,
        ))
    });
    for (table, load, bytes) in single.chain(several) {
        let Err(fault) = generate::Generator::new(load, bytes, plan.seed) else {
            continue;
        };
        let key = fault.path().to_string_lossy().into_owned();
        let error =
            ConfigError::conflict(&key, format!("{key}: {}", fault.reason()), fault.remedy());
        return Err(error.inside(&table));
    }
    Ok(())
}
