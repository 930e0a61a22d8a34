"""Trials as Optuna keeps them: in a journal, from which a search goes on.

A trial has its place in the order of the search as an attribute. A trial that was under way when
the search was stopped is none: its place is taken again.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline import output_folder
from wordline._wordline import WordlineError
from wordline.search.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    import optuna

JOURNAL = "trials.journal"
PLACE, ERROR, DIGEST = "place", "error", "digest"
PLAN = "plan"


def opened(plan: Plan, folder: str | None) -> optuna.Study:
    """The trials of a search, with those that its folder holds. Raises WordlineError if these are
    of another search."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    identity = plan.identity()
    study = _study(plan, folder)
    known = study.user_attrs.get(PLAN)
    if known is None:
        study.set_user_attr(PLAN, identity)
    elif known != identity:
        other = [part for part, value in identity.items() if known.get(part) != value]
        raise WordlineError(
            f"{folder}: holds another search (other {', '.join(other)}); name another folder"
        )
    for trial in study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def ended(study: optuna.Study) -> dict[int, optuna.trial.FrozenTrial]:
    """The trials that have ended, by their places. One that failed without a reason was stopped."""
    found = {
        trial.user_attrs[PLACE]: trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state.is_finished()
        and (trial.state.name != "FAIL" or ERROR in trial.user_attrs)
        and PLACE in trial.user_attrs
    }
    return dict(sorted(found.items()))


def sampler(plan: Plan, place: int, fixed: Mapping[str, Any] | None) -> optuna.samplers.BaseSampler:
    """What chooses the values of the trial at a place. Its random numbers depend on seed and place
    alone, so that a search that goes on does not begin them again. `fixed` values are not chosen.
    """
    from optuna import samplers

    digest = hashlib.sha256(f"{plan.seed} {place}".encode()).digest()
    seed = int.from_bytes(digest[:4])
    made = {
        "tpe": samplers.TPESampler,
        "random": samplers.RandomSampler,
        "nsga2": samplers.NSGAIISampler,
        "grid": samplers.RandomSampler,
    }
    chosen = made[plan.sampler](seed=seed)
    if fixed is None:
        return chosen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return samplers.PartialFixedSampler(dict(fixed), chosen)


def _pruner(plan: Plan) -> optuna.pruners.BasePruner:
    from optuna import pruners

    made = {
        "none": pruners.NopPruner,
        "median": pruners.MedianPruner,
        "halving": pruners.SuccessiveHalvingPruner,
        "hyperband": pruners.HyperbandPruner,
    }
    return made[plan.pruner]()


def _study(plan: Plan, folder: str | None) -> optuna.Study:
    import optuna

    directions = optuna.study.StudyDirection
    ways = [directions.MAXIMIZE if one.maximise else directions.MINIMIZE for one in plan.objectives]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if folder is None:
            return optuna.create_study(study_name="search", directions=ways, pruner=_pruner(plan))
        output_folder.make(folder)
        path = str(Path(folder) / JOURNAL)
        _cut_torn_line(path)
        return _kept(path, ways, _pruner(plan))


def _kept(
    path: str,
    ways: list[optuna.study.StudyDirection],
    pruner: optuna.pruners.BasePruner,
) -> optuna.Study:
    """The study that a journal holds; a new one if it holds none. The directions are those of the
    plan that it knows, which `opened` compares."""
    import optuna
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage

    try:
        storage = JournalStorage(JournalFileBackend(path, lock_obj=JournalFileOpenLock(path)))
        if storage.get_all_studies():
            return optuna.load_study(study_name="search", storage=storage, pruner=pruner)
    except (ValueError, KeyError, TypeError) as fault:
        raise WordlineError(
            f"{path}: is no journal of a search ({fault}); name another folder"
        ) from fault
    return optuna.create_study(study_name="search", storage=storage, directions=ways, pruner=pruner)


def _cut_torn_line(path: str) -> None:
    """Leaves out the end of a journal that a power cut tore: what follows the last whole line."""
    if not os.path.exists(path):  # noqa: PTH110
        return
    content = Path(path).read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
