"""Generates the reference page of plan files from their keys."""

from wordline._sweep.plan import KEYS

PAGE = "docs/reference/sweep.md"


def page() -> str:
    """Returns the page as Markdown."""
    rows = "".join(f"| `{key}` | {text.replace('|', '&#124;')} |\n" for key, text in KEYS.items())
    return f"""# Plans of sweeps

`make docs` generates this page from the program. A plan is a TOML file, for
`wordline sweep PLAN.toml`.

| key | meaning |
|---|---|
{rows}
Keys of the configuration are those of its [reference](config.md), as key paths in quotation marks
or as nested tables. A condition compares keys that vary with `==`, `!=`, `<`, `<=`, `>`, `>=` and
`in`, joined by `and`, `or`, `not`, with `+ - * / %` between numbers.

`points.parquet` has one row per point, in the order of the plan: `point` (its number from 0), `key`
(equal for equal points), a column per varied key, `status` (`done` or `failed`), `error`,
the metrics of the summary by path ([metrics](metrics.md); lists and `speed` are left out),
`digest`, `version`.
"""
