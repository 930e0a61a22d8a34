"""What the pages that Wordline writes are made of: parts that come with it, and templates.

A page is one file that needs nothing but a browser. What is large in it is compressed: the library
that draws the charts, and the charts.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup, escape

from wordline._render import units

TEMPLATES = "wordline._render.templates"
LIBRARY = "plotly-cartesian.min.js.gz"
"""The charts' library, plotly.js without maps and 3D, as npm has it in plotly.js-cartesian-dist-min
4.1.1, compressed by `gzip -9n`; licence MIT, beside it."""
CONTENTS = "<!-- contents -->"
HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")


def render(package: str, template: str, drawn: Mapping[str, Any], /, **known: Any) -> str:
    """A page of a template in a package, with the charts that it names, and with a list of its
    sections where the template says so."""
    style = Markup(part(TEMPLATES, "report.css"))  # noqa: S704 - our own file
    page = (
        environment(package)
        .get_template(template)
        .render(
            **known,
            policy=_policy(),
            style=style,
            without_scripts=Markup(part(TEMPLATES, "noscript.html")),  # noqa: S704
            scripts=_scripts(drawn),
        )
    )
    return page.replace(CONTENTS, _contents(page), 1)


def charts_of(page: str) -> dict[str, Any]:
    """The charts of a page, by the ids that its template gives them."""
    found = re.search(r'id="figures">([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(found[1]))) if found else {}


def code(text: str) -> Markup:
    """Text with what stands in backquotes set as code."""
    escaped = str(escape(text))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704


def _contents(page: str) -> str:
    """Links to the sections of a page, taken from their headings."""
    links = [
        f'<li><a href="#{name}">{TAG.sub("", heading).strip()}</a></li>'
        for name, heading in HEADING.findall(page)
    ]
    return f'<nav class="contents" aria-label="Contents"><ul>{"".join(links)}</ul></nav>'


def _scripts(charts: Mapping[str, Any]) -> Markup:
    """The charts, what draws them, and their library, which `report.js` unpacks."""
    drawn = json.dumps(charts, separators=(",", ":"), allow_nan=False).encode()
    blocks = {"figures": gzip.compress(drawn, 9, mtime=0), "library": _packed_library()}
    packed = [
        f'<script type="application/gzip" id="{name}">{base64.b64encode(data).decode()}</script>'
        for name, data in blocks.items()
    ]
    told = f"<!-- The library is {escape(_licence())} -->"
    own = f"<script>{part(TEMPLATES, 'report.js')}</script>"
    return Markup("\n".join([told, *packed, own]))  # noqa: S704 - encoded, and our own file


@cache
def _policy() -> str:
    """The security policy of a page: nothing is fetched, and these two scripts run, no other."""
    scripts = (gzip.decompress(_packed_library()).decode(), part(TEMPLATES, "report.js"))
    hashes = " ".join(fingerprint(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def fingerprint(script: str) -> str:
    """A script's fingerprint, by which the page's security policy admits it and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _packed_library() -> bytes:
    return files("wordline._render.vendored").joinpath(LIBRARY).read_bytes()


@cache
def _licence() -> str:
    """The first lines of the library, which name it, its authors and its licence."""
    lines = gzip.decompress(_packed_library())[:400].decode().split("*/")[0].splitlines()
    return ". ".join(line.strip("/* ") for line in lines if line.strip("/* "))


@cache
def part(package: str, name: str) -> str:
    """The text of a file that comes with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def environment(package: str) -> jinja2.Environment:
    """The templates of a package. What a template does not know is an error."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: part(package, name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["many"] = units.many  # pyright: ignore[reportUnknownMemberType]: jinja2 gives it no type
    return made
