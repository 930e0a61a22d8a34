"""Experiments in the order of the report."""

from wordline._lab.experiments import (
    aged,
    cache,
    cliff,
    idle,
    layout,
    mixes,
    patterns,
    read_wear,
    reliability,
    slc_cache,
    trim,
    trim_cost,
    workers,
)

EXPERIMENTS = (
    patterns.EXPERIMENT,
    aged.EXPERIMENT,
    layout.EXPERIMENT,
    read_wear.EXPERIMENT,
    reliability.EXPERIMENT,
    mixes.EXPERIMENT,
    cliff.EXPERIMENT,
    slc_cache.EXPERIMENT,
    cache.EXPERIMENT,
    trim.EXPERIMENT,
    trim_cost.EXPERIMENT,
    idle.EXPERIMENT,
    workers.EXPERIMENT,
)
