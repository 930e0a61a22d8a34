"""Plan of a search: device, load, goals and method."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import Any, get_args, get_type_hints

from wordline import _wordline, config
from wordline._api import spelling
from wordline._api.catalogue import metrics
from wordline._api.figures import LEFT_OUT
from wordline._internal import own_version
from wordline._internal.arguments import whole
from wordline._search.goal import Bound, Objective
from wordline._search.space import ends, grid, space
from wordline._sweep.plan import OPTIONS, OWN
from wordline._sweep.tasks import identity
from wordline._wordline import WordlineError
from wordline.summary import Summary

SAMPLERS = ("tpe", "random", "nsga2", "grid")
LOADS = ("workload", "streams", "replay")
"""Tables of a configuration that define the requests."""
PRUNERS = ("none", "median", "halving", "hyperband")


@dataclass(frozen=True)
class Plan:
    """Plan of a search. `trace` is empty if the device file defines the load."""

    device: str
    trace: tuple[str, ...]
    vary: Mapping[str, Any]
    objectives: Sequence[Objective]
    bounds: Sequence[Bound]
    overrides: Mapping[str, Any]
    options: Mapping[str, Any]
    trials: int
    sampler: str
    pruner: str
    rungs: Sequence[int]
    seed: int

    def bounded(self) -> list[str]:
        """Returns the names of the bounded metrics."""
        return list(dict.fromkeys(one.name for one in self.bounds if one.name not in self.vary))

    def has_fixed_load(self) -> bool:
        """Returns True if all trials have the same requests."""
        return not any(key in OWN or key.split(".")[0] in LOADS for key in self.vary)

    def keys(self) -> dict[str, Any]:
        """Returns the values of the configuration keys that all trials share."""
        return {key: value for key, value in self.overrides.items() if key not in OWN}

    def identity(self) -> dict[str, object]:
        """Returns the inputs that distinguish searches, as JSON values by name. The configuration
        and the trace are identified by their content. The number of trials is left out. Raises
        WordlineError if the trace cannot be read."""
        left_out = ("device", "trace", "overrides", "trials")
        parts = {key: value for key, value in vars(self).items() if key not in left_out}
        parts |= {
            "configuration": config.show(self.device, self.keys()),
            "trace": identity(self.trace),
            "program": [own_version.installed(), _wordline.build()],
        }
        return json.loads(json.dumps(parts, default=vars))


def require(plan: Plan) -> None:
    """Raises WordlineError or TypeError if trials cannot run, or a goal cannot be measured."""
    try:
        import optuna
    except ImportError:
        raise WordlineError("a search needs Optuna; run pip install 'wordline[search]'") from None
    del optuna
    _require_numbers(plan)
    if plan.sampler not in SAMPLERS or plan.pruner not in PRUNERS:
        raise WordlineError(
            f"sampler {plan.sampler} or pruner {plan.pruner} is unknown; the samplers are "
            f"{', '.join(SAMPLERS)}, and the pruners {', '.join(PRUNERS)}"
        )
    if plan.pruner != "none" and (len(plan.objectives) > 1 or not plan.rungs):
        raise WordlineError(
            spelling.message(
                "a pruner needs a single objective, and the request counts at which it decides, "
                "such as --rungs 5000,20000"
            )
        )
    for key in plan.options:
        if key not in OPTIONS:
            raise WordlineError(
                f"{key}: is not an option of a run; the options are {', '.join(OPTIONS)}"
            )
    config.check(plan.device, plan.keys())
    _require_keys(plan)
    for one in (*plan.objectives, *plan.bounds):
        if one.name not in plan.vary:
            require_figure(one.name)


def _require_numbers(plan: Plan) -> None:
    whole("trials", plan.trials, 1)
    whole("seed", plan.seed, 0)
    for rung in plan.rungs:
        whole("rungs", rung, 1)


def _require_keys(plan: Plan) -> None:
    """Checks that the device is valid for an end of each key's range, or for a value of its list:
    with the device's own values of the other keys, or with all other keys at one end of theirs."""
    found = space(plan.vary)
    if plan.sampler == "grid":
        grid(found)
    for key in ("device", "trace", "seed"):
        if key in found:
            raise WordlineError(
                spelling.message(f"{key}: cannot be varied in a search; leave out --vary {key}")
            )
    corners = {key: ends(one) for key, one in found.items() if key not in OWN}
    around = [{}, *({key: own[side] for key, own in corners.items()} for side in (0, -1))]
    for key, values in corners.items():
        faults = [_fault(plan, {**others, key: value}) for value, others in product(values, around)]
        if all(faults):
            raise WordlineError(faults[0])


def _fault(plan: Plan, keys: Mapping[str, Any]) -> str:
    try:
        config.check(plan.device, {**plan.keys(), **keys})
    except WordlineError as fault:
        return str(fault)
    return ""


def _require_number(name: str) -> None:
    """Raises WordlineError unless a metric is a number that depends on the device."""
    kind: Any = Summary
    for part in name.split("."):
        kind = get_type_hints(kind)[part]
        kind = next((one for one in get_args(kind) if one is not type(None)), kind)
    if kind not in (int, float):
        raise WordlineError(f"{name}: is not a number; choose a numeric metric")
    if name.split(".")[0] in LEFT_OUT:
        raise WordlineError(f"{name}: does not depend on the device; choose another metric")


def require_figure(name: str) -> None:
    """Raises WordlineError unless a summary can have a metric with this name."""
    ops = ("all", "read", "write")
    known = [one["name"].replace("{op}", op) for one in metrics() for op in ops]
    known = [one for one in dict.fromkeys(known) if not re.search(r"[\[{]", one)]
    if name in known:
        _require_number(name)
        return
    near = [one for one in known if one.split(".")[-1] == name.split(".")[-1]]
    near = (near or get_close_matches(name, known))[:4]
    hint = f"did you mean {', '.join(near)}?" if near else "`wordline run --json` lists the metrics"
    raise WordlineError(f"{name}: is neither a metric of the summary nor a varied key; {hint}")
