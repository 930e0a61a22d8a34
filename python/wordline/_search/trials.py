"""Trials in Optuna's journal, from which a search continues.

An attribute of each trial is its number in the search. A trial that was in progress when the search
was interrupted is repeated with the same number.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline._internal import output_folder
from wordline._search.plan import Plan
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import optuna

    from wordline._search.journal import Lines

JOURNAL = "trials.journal"
PLACE, ERROR, DIGEST, BOUNDED = "place", "error", "digest", "bounded"
PLAN = "plan"


def opened(plan: Plan, lines: Lines | None) -> optuna.Study:
    """Returns the study of a search with the trials in its journal. Raises WordlineError if the
    journal belongs to another search."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    identity = plan.identity()
    study = _study(plan, lines)
    known = study.user_attrs.get(PLAN)
    if known is None:
        study.set_user_attr(PLAN, identity)
    elif known != identity:
        other = [part for part, value in identity.items() if known.get(part) != value]
        raise WordlineError(
            f"{lines.path if lines else 'the journal'}: holds another search "
            f"(different {', '.join(other)}); name another folder"
        )
    for trial in study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def ended(study: optuna.Study) -> dict[int, optuna.trial.FrozenTrial]:
    """Returns the trials that completed, failed or were pruned, by number. A trial that failed
    without a reason was interrupted, and is left out."""
    found = {
        trial.user_attrs[PLACE]: trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state.is_finished()
        and (trial.state.name != "FAIL" or ERROR in trial.user_attrs)
        and PLACE in trial.user_attrs
    }
    return dict(sorted(found.items()))


def sampler(plan: Plan, place: int, fixed: Mapping[str, Any] | None) -> optuna.samplers.BaseSampler:
    """Returns the sampler of a trial. Its random numbers depend only on seed and trial number, so
    that a continued search does not repeat them. `fixed` values are not sampled."""
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


def _study(plan: Plan, lines: Lines | None) -> optuna.Study:
    import optuna

    directions = optuna.study.StudyDirection
    ways = [directions.MAXIMIZE if one.maximise else directions.MINIMIZE for one in plan.objectives]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if lines is None:
            return optuna.create_study(study_name="search", directions=ways, pruner=_pruner(plan))
        return _kept(lines, ways, _pruner(plan))


def lines_in(folder: str) -> Lines:
    """Returns the journal of a search in its folder. Raises WordlineError if the file is not a
    journal."""
    from wordline._search.journal import Lines

    output_folder.make(folder)
    path = str(Path(folder) / JOURNAL)
    try:
        return Lines(path)
    except (OSError, ValueError) as fault:
        raise _no_journal(path, fault) from fault


def _kept(
    lines: Lines, ways: list[optuna.study.StudyDirection], pruner: optuna.pruners.BasePruner
) -> optuna.Study:
    """Returns the study in a journal, or a new study. The directions of an existing study are those
    of its plan, which `opened` compares."""
    import optuna
    from optuna.storages.journal import JournalStorage

    try:
        storage = JournalStorage(lines)
        if storage.get_all_studies():
            return optuna.load_study(study_name="search", storage=storage, pruner=pruner)
    except (ValueError, KeyError, TypeError) as fault:
        raise _no_journal(lines.path, fault) from fault
    return optuna.create_study(study_name="search", storage=storage, directions=ways, pruner=pruner)


def _no_journal(path: str, fault: Exception) -> WordlineError:
    return WordlineError(f"{path}: is not a journal of a search ({fault}); name another folder")
