"""The page of a study: one file that needs nothing but a browser."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

import jinja2
from plotly.offline import get_plotlyjs  # pyright: ignore[reportMissingTypeStubs]

import wordline
from wordline import units
from wordline.study.figure import Published, Row
from wordline.study.outcome import Outcome


def render(outcome: Outcome) -> str:
    """The page as HTML."""
    drawn = {
        f"{figure.id}-{place}": plot.figure
        for figure in outcome.figures
        for place, plot in enumerate(figure.plots)
    }
    scripts = [get_plotlyjs(), _text("templates", "report.js")]
    claims = [claim for figure in outcome.figures for claim in figure.claims]
    return (
        _environment()
        .get_template("study.html.jinja")
        .render(
            study=outcome.study,
            figures=outcome.figures,
            drawn=drawn,
            configs=sorted(outcome.setup.configs.items()),
            quick=outcome.setup.quick,
            claims=claims,
            failed=outcome.failed,
            version=wordline.__version__,
            style=_text("templates", "report.css"),
            scripts=scripts,
            hashes=" ".join(_hash(script) for script in scripts),
            published=published,
            ours=ours,
            difference=difference,
        )
    )


def published(row: Row) -> str:
    """The published number of a row as text."""
    return _published(row.published) if row.published else units.ABSENT


def ours(row: Row) -> str:
    """Our number of a row as text."""
    return units.ABSENT if row.ours is None else units.number(row.ours, row.unit)


def difference(row: Row) -> str:
    """The difference of a row as text."""
    if row.difference is None:
        return units.ABSENT
    if row.difference == 0 and isinstance(row.published and row.published.value, tuple):
        return "within"
    return f"{row.difference:+.1f} {row.difference_unit}"


def _published(number: Published) -> str:
    value = number.value
    if isinstance(value, tuple):
        return f"{units.figures(value[0])} to {units.figures(value[1])} {number.unit}".rstrip()
    return units.number(value, number.unit, 4)


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _text(*path: str) -> str:
    return files("wordline").joinpath(*path).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _text("study", name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment
