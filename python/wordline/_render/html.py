"""HTML pages from templates and bundled parts.

A page is a single file that needs only a browser. Its large parts are compressed: the chart library
and the charts.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup, escape

from wordline._render import units

TEMPLATES = "wordline._render.templates"
LIBRARY = "plotly-cartesian.min.js.gz"
"""Chart library: plotly.js without maps and 3D, from the npm package plotly.js-cartesian-dist-min
4.1.1, compressed with `gzip -9n`. MIT licence, in the same folder."""
CONTENTS = "<!-- contents -->"
HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Compiled templates in a folder that only the user can read or write. A folder without room
    only means that the next process compiles again."""

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Stores a compiled template."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def render(package: str, template: str, drawn: Mapping[str, Any], /, **known: Any) -> str:
    """Renders a template of a package with its charts, and with a list of sections if the template
    has a place for it."""
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
    """Returns the charts of a page by id."""
    found = re.search(r'id="figures">([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(found[1]))) if found else {}


def code(text: str) -> Markup:
    """Escapes text, and marks up words in backquotes as code."""
    escaped = str(escape(text))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704


def _contents(page: str) -> str:
    """Returns links to the sections of a page, from its headings."""
    links = [
        f'<li><a href="#{name}">{TAG.sub("", heading).strip()}</a></li>'
        for name, heading in HEADING.findall(page)
    ]
    return f'<nav class="contents" aria-label="Contents"><ul>{"".join(links)}</ul></nav>'


def _scripts(charts: Mapping[str, Any]) -> Markup:
    """Returns the compressed charts and library, and the script that unpacks and draws them."""
    drawn = json.dumps(charts, separators=(",", ":"), allow_nan=False).encode()
    blocks = {"figures": gzip.compress(drawn, 6, mtime=0), "library": _packed_library()}
    packed = [
        f'<script type="application/gzip" id="{name}">{base64.b64encode(data).decode()}</script>'
        for name, data in blocks.items()
    ]
    told = f"<!-- The library is {escape(_licence())} -->"
    own = f"<script>{part(TEMPLATES, 'report.js')}</script>"
    return Markup("\n".join([told, *packed, own]))  # noqa: S704 - encoded, and our own file


@cache
def _policy() -> str:
    """Returns the content security policy of a page: nothing is fetched, and only these two scripts
    run."""
    scripts = (_library(), part(TEMPLATES, "report.js"))
    hashes = " ".join(fingerprint(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def fingerprint(script: str) -> str:
    """Returns the hash of a script for the content security policy."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _packed_library() -> bytes:
    return files("wordline._render.vendored").joinpath(LIBRARY).read_bytes()


@cache
def _library() -> str:
    return gzip.decompress(_packed_library()).decode()


@cache
def _licence() -> str:
    """Returns the first lines of the library, with its name, authors and licence."""
    lines = _library()[:400].split("*/")[0].splitlines()
    return ". ".join(line.strip("/* ") for line in lines if line.strip("/* "))


@cache
def part(package: str, name: str) -> str:
    """Returns the text of a file in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def _compiled_templates() -> CompiledTemplates | None:
    """Returns the store of compiled templates; None if there is no folder for it."""
    try:
        return CompiledTemplates()
    except (OSError, RuntimeError):
        return None


@cache
def environment(package: str) -> jinja2.Environment:
    """Returns the template environment of a package. Unknown names in a template are errors."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: part(package, name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled_templates(),
    )
    made.globals["many"] = units.many  # pyright: ignore[reportUnknownMemberType]: jinja2 gives it no type
    return made
