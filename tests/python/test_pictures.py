"""The pictures of README and tutorial show what the program prints."""

import importlib.util
import json
from pathlib import Path

import wordline

DOCS = Path(__file__).parents[2] / "docs"
RENEW = "the pictures show something else; renew them with `make pictures`"


def test_pictures_show_what_the_program_prints() -> None:
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert spec
    assert spec.loader
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    kept = json.loads((DOCS / "images/demo.json").read_text())
    summary = wordline.run("demo", pictures.TRACE, requests=False).summary
    assert kept["summary"] == pictures.told(summary), RENEW
    for name, digest in kept["pictures"].items():
        assert pictures.digest(DOCS / "images" / name) == digest, RENEW
