"""Pictures of the README and the tutorial show the output of the program."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import wordline
from wordline import cli

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "pictures.py"
RENEW = "the pictures show something else; renew them with `make pictures`"


def module() -> ModuleType:
    """Returns the module docs/pictures.py."""
    spec = importlib.util.spec_from_file_location("pictures", PICTURES)
    assert spec
    assert spec.loader
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    return pictures


def test_the_documented_timeline_comes_from_the_documented_command(place: Path) -> None:
    pictures = module()
    _, *args = pictures.timeline_command().split()
    assert cli.main([*args, "--no-report", "--out", "out"]) == 0
    kept = json.loads((DOCS / "images/demo.json").read_text())
    assert kept["timeline"] == pictures.digest(place / "demo.pftrace"), RENEW
    assert "timeline.png" in kept["pictures"]


def test_pictures_show_the_current_output_of_the_program() -> None:
    pictures = module()
    kept = json.loads((DOCS / "images/demo.json").read_text())
    summary = wordline.run("demo", pictures.TRACE, requests=False).summary
    assert kept["summary"] == pictures.told(summary), RENEW
    for name, digest in kept["pictures"].items():
        assert pictures.digest(DOCS / "images" / name) == digest, RENEW
