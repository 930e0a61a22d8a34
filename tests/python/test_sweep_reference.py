"""The reference of plan files matches the program."""

import os
from pathlib import Path

from wordline._sweep.plan import KEYS, OPTIONS
from wordline._sweep.reference import PAGE, page

ROOT = Path(__file__).parents[2]


def test_the_sweep_reference_matches_the_program() -> None:
    if os.environ.get("WORDLINE_BLESS"):
        (ROOT / PAGE).write_text(page())
    assert (ROOT / PAGE).read_text() == page()


def test_the_sweep_reference_has_every_key_and_option() -> None:
    text = (ROOT / PAGE).read_text()
    assert all(f"| `{key}` |" in text for key in KEYS)
    assert all(option in text for option in OPTIONS)
