"""Generated loads that several figures replay."""

import gc
from pathlib import Path

from wordline_studies.figure import Setup
from wordline_studies.generated import Generated, Request

LOAD = [Request(0, True, 3, 2), Request(7, False, 5, 1, volume=1)]


def test_each_load_is_written_once() -> None:
    generated, asked = Generated(), list[str]()

    def load(name: str) -> list[Request]:
        asked.append(name)
        return LOAD[: 1 + len(asked)]

    one = generated.trace(("one", 1), lambda: load("one"))
    assert one.read_text() == (
        "time_ns,op,offset_bytes,size_bytes,volume\n0,write,12288,8192,0\n7,read,20480,4096,1\n"
    )
    assert generated.trace(("one", 1), lambda: load("again")) == one
    assert generated.trace(("one", 2), lambda: load("two")) != one
    assert asked == ["one", "two"]


def test_loads_are_removed_when_cleared_or_unused() -> None:
    setup = Setup()
    path = setup.generated.trace("load", lambda: LOAD)
    assert path.exists()
    setup.generated.clear()
    assert not path.parent.exists()
    path = setup.generated.trace("load", lambda: LOAD)
    assert path.exists()
    folder: Path = path.parent
    del setup
    gc.collect()
    assert not folder.exists()
