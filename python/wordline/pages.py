"""What the pages that Wordline writes are made of: parts that come with it, and templates."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

import jinja2


def fingerprint(script: str) -> str:
    """A script's fingerprint, by which the page's security policy admits it and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def part(folder: str, name: str) -> str:
    """The text of a file that comes with the package."""
    return files("wordline").joinpath(folder, name).read_text(encoding="utf-8")


@cache
def environment(folder: str) -> jinja2.Environment:
    """The templates of a folder of the package. What a template does not know is an error."""
    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: part(folder, name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return found
