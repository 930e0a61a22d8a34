"""Replacement policies in Python: the same rule in Python and in Rust gives the same run, and
errors are reported."""
# ruff: noqa: ARG001, ARG002 - a policy has all arguments, even if it does not use them

import html
import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY, USER_BYTES, environment, msr

import wordline

PAGE = Path(__file__).parents[2] / "docs/how-to/policy-in-python.md"


def documented() -> dict[str, Any]:
    """Returns the classes of the how-to page, unchanged."""
    blocks = re.findall(r"( *)```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names: dict[str, Any] = {}
    for indent, block in blocks:
        code = re.sub(f"^{indent}", "", block, flags=re.MULTILINE)
        if "class " in code:
            exec(code, names)
    return names


CLASSES = documented()
LRU, CFLRU, LCR = CLASSES["LRU"], CLASSES["CFLRU"], CLASSES["LCR"]
BUFFER = {"buffer.capacity_kib": 256, "precondition.fill_ratio": 0.9}


def requests(count: int, trims: bool = False, gap_ns: int = 60_000) -> str:
    """Returns a trace of skewed reads and writes of one to three pages, and trims of a page."""
    draw = random.Random(7)
    lines = ["time_ns,op,offset_bytes,size_bytes,volume"]
    for index in range(count):
        page = int(USER_BYTES // 4096 * draw.random() ** 3)
        size = min(draw.randrange(1, 4), USER_BYTES // 4096 - page)
        op = "write" if draw.random() < 0.6 else "read"
        if trims and draw.random() < 0.05:
            op, size = "trim", 1
        lines.append(f"{index * gap_ns},{op},{page * 4096},{size * 4096},0")
    return "\n".join(lines) + "\n"


@pytest.fixture
def skewed(place: Path) -> str:
    (place / "skewed.csv").write_text(requests(4000))
    return "skewed.csv"


@pytest.fixture
def trimmed(place: Path) -> str:
    (place / "trimmed.csv").write_text(requests(4000, trims=True))
    return "trimmed.csv"


def counts(result: wordline.CacheResult, policy: str) -> list[dict[str, object]]:
    """Returns the runs of a policy, without its name."""
    runs = [dict(run) for run in result.runs if run["policy"] == policy]
    return [{key: value for key, value in run.items() if key != "policy"} for run in runs]


@pytest.mark.parametrize("trace", ["skewed", "trimmed"])
def test_python_and_rust_policies_have_the_same_counts_over_a_trace(
    trace: str, request: pytest.FixtureRequest
) -> None:
    sizes = [1, 2, 3, 10, 100, 1000, 5000]
    policies = [
        "lru",
        "cflru",
        LRU,
        CFLRU,
        "cflru:window_ratio=1",
        partial(CFLRU, window_ratio=1.0),
    ]
    result = wordline.cache(request.getfixturevalue(trace), policies, sizes)
    assert [run["policy"] for run in result.runs][:4] == ["lru", "cflru", "LRU", "CFLRU"]
    assert counts(result, "LRU") == counts(result, "lru")
    own = counts(result, "CFLRU")
    assert own[0::2] == counts(result, "cflru")
    assert own[1::2] == counts(result, "cflru:window_ratio=1")
    assert own[6] != own[7]


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (LRU, "lru"),
        (CFLRU, "cflru"),
        (LCR, "lcr"),
        (lambda pages: LCR(pages, 1.0), "lcr.window_ratio=1.0"),
    ],
)
def test_python_and_rust_policies_give_the_same_run_of_a_device(
    tiny: str, trimmed: str, policy: Any, name: str
) -> None:
    known = f"buffer.replacement.{name}" if "=" in name else f"buffer.replacement={name}"
    key, value = known.split("=")
    overrides = BUFFER | {key: value if name.isalpha() else float(value)}
    member = wordline.run(tiny, trimmed, overrides=overrides, verify=True)
    own = wordline.run(tiny, trimmed, overrides=BUFFER, buffer=policy, verify=True)
    assert own.summary["digest"] == member.summary["digest"]
    assert own.summary["buffer"] == member.summary["buffer"]
    assert own.summary["buffer"]["dirty_evictions"] > 100


def test_the_documented_policies_give_different_runs(tiny: str, skewed: str) -> None:
    runs = [wordline.run(tiny, skewed, overrides=BUFFER, buffer=one) for one in (LRU, CFLRU, LCR)]
    assert len({run.summary["digest"] for run in runs}) == 3


def test_each_power_cut_creates_a_new_policy(tiny: str, skewed: str) -> None:
    made: list[int] = []

    def make(pages: int) -> wordline.Replacement:
        made.append(pages)
        return LRU(pages)

    for capacitors in (False, True):
        made.clear()
        overrides = BUFFER | {"buffer.capacitors": capacitors}
        run = partial(
            wordline.run, tiny, skewed, overrides=overrides, power_cut_every=500, verify=True
        )
        own, member = run(buffer=make), run()
        assert own.summary["digest"] == member.summary["digest"]
        assert own.summary["power"] is not None
        assert made == [64] * (1 + own.summary["power"]["cuts"])


def test_policies_receive_logical_pages_or_pages_of_the_trace(place: Path, tiny: str) -> None:
    heard: list[tuple[int, bool]] = []

    class Recording(LRU):
        def hit(self, page: int, write: bool) -> None:
            heard.append((page, write))
            super().hit(page, write)

        def admit(self, page: int, write: bool) -> None:
            heard.append((page, write))
            super().admit(page, write)

    lines = ["0,write,40960,8192,0", "1000000000,read,45056,4096,0", "2000000000,read,4096,4096,0"]
    header = "time_ns,op,offset_bytes,size_bytes,volume"
    (place / "few.csv").write_text("\n".join([header, *lines]) + "\n")
    expected = [(10, True), (11, True), (11, False), (1, False)]
    wordline.run(tiny, "few.csv", overrides=BUFFER, buffer=Recording)
    assert heard == expected
    heard.clear()
    wordline.cache("few.csv", [Recording], 2)
    assert heard == expected


def test_the_written_configuration_requires_the_policy_again(
    tiny: str, skewed: str, place: Path
) -> None:
    result = wordline.run(tiny, skewed, overrides=BUFFER, buffer=LRU, out="out")
    told = (place / "out/config.resolved.toml").read_text()
    assert 'replacement = "given:LRU"' in told
    assert any("policy LRU" in note for note in result.summary["notes"])
    assert "policy LRU" in (place / "out/report.html").read_text()
    with pytest.raises(wordline.WordlineError, match=r"buffer\.replacement.*given:LRU"):
        wordline.run("out/config.resolved.toml", skewed)
    again = wordline.run("out/config.resolved.toml", skewed, buffer=LRU)
    assert again.summary["digest"] == result.summary["digest"]
    (place / "named.toml").write_text(told.replace("given:LRU", "lru"))
    member = wordline.run("named.toml", skewed)
    assert member.summary["digest"] == result.summary["digest"]
    assert "given" not in member.config


class Wrong(LRU):
    """An LRU that fails after a number of evictions, in the way that its subclass defines."""

    calls = 0

    def evict(self, view: wordline.View) -> Any:
        self.calls += 1
        return self.go_wrong(view) if self.calls == 40 else super().evict(view)

    def go_wrong(self, view: wordline.View) -> Any:
        return super().evict(view)


class Raising(Wrong):
    def go_wrong(self, view: wordline.View) -> Any:
        return {}["no such key"]


class Absent(Wrong):
    def go_wrong(self, view: wordline.View) -> Any:
        return 10**9


class Twice(Wrong):
    def go_wrong(self, view: wordline.View) -> Any:
        return self.before

    def evict(self, view: wordline.View) -> Any:
        self.before = super().evict(view)
        return self.before


class ReturnsNone(Wrong):
    def go_wrong(self, view: wordline.View) -> Any:
        return None


class Negative(Wrong):
    def go_wrong(self, view: wordline.View) -> Any:
        return -1


class QueriesAbsent(Wrong):
    def go_wrong(self, view: wordline.View) -> Any:
        return view.is_dirty(10**9)


def test_views_report_idle_dies_without_a_device(place: Path) -> None:
    (place / "disk.csv").write_text(msr(300))
    seen: set[tuple[float, bool]] = set()

    class Querying(LRU):
        def evict(self, view: wordline.View) -> int:
            page = next(iter(self.pages))
            seen.add((view.load(page), view.is_collecting(page)))
            return super().evict(view)

    wordline.cache("disk.csv", [Querying], "4p")
    assert seen == {(0.0, False)}


class Late(Wrong):
    """An LRU that queries a view after the call that received it."""

    view: Any = None

    def evict(self, view: wordline.View) -> Any:
        self.view = view
        return super().evict(view)

    def hit(self, page: int, write: bool) -> None:
        super().hit(page, write)
        if self.calls > 9:
            self.view.load(page)


class HitRaises(LRU):
    hits = 0

    def hit(self, page: int, write: bool) -> None:
        self.hits += 1
        assert self.hits < 300, "enough"


class AdmitRaises(LRU):
    def admit(self, page: int, write: bool) -> None:
        super().admit(page, write)
        assert len(self.pages) < 30, "enough"


FAULTS: list[tuple[type, list[str]]] = [
    (Raising, ["policy Raising: evict failed: KeyError", "Traceback", '{}["no such key"]']),
    (Absent, ["policy Absent: evict names page 1000000000, which is not in the cache"]),
    (Twice, ["policy Twice: evict names page", "which is not in the cache"]),
    (ReturnsNone, ["policy ReturnsNone: evict returned None"]),
    (Negative, ["policy Negative: evict returned -1"]),
    (QueriesAbsent, ["KeyError", "page 1000000000 is not in the cache"]),
    (Late, ["policy Late: hit failed: RuntimeError", "only be used during the call of evict"]),
    (HitRaises, ["policy HitRaises: hit failed: AssertionError: enough"]),
    (AdmitRaises, ["policy AdmitRaises: admit failed: AssertionError: enough"]),
]


@pytest.mark.parametrize(("policy", "said"), FAULTS)
def test_an_error_in_a_policy_ends_the_run_with_a_partial_result(
    tiny: str, skewed: str, policy: type, said: list[str]
) -> None:
    with pytest.raises(wordline.RunError) as raised:
        wordline.run(tiny, skewed, overrides=BUFFER, buffer=policy)
    for words in said:
        assert words in str(raised.value)
    summary = raised.value.result.summary
    assert summary["partial"]
    assert 0 < summary["latency"]["all"]["count"] < 4000
    assert summary["error"] == str(raised.value)


def test_the_report_shows_the_traceback_of_a_failed_policy(tiny: str, skewed: str) -> None:
    with pytest.raises(wordline.RunError) as raised:
        wordline.run(tiny, skewed, overrides=BUFFER, buffer=Raising, out="out")
    page = (Path("out") / "report.html").read_text()
    assert 'class="reason">policy Raising: evict failed' in page
    assert html.escape(str(raised.value).splitlines()[1]) in page


def test_slowdowns_with_a_python_policy_equal_those_with_a_rust_policy(
    tiny: str, skewed: str, place: Path
) -> None:
    (place / "other.csv").write_text(requests(1000, gap_ns=300_000))
    run = partial(
        wordline.run, tiny, streams={"a": skewed, "b": "other.csv"}, slowdown=True, overrides=BUFFER
    )
    heard: list[str] = []
    own, member = run(buffer=LRU, progress=lambda now: heard.append(now["phase"])), run()
    assert own.summary["digest"] == member.summary["digest"]
    slow = [[stream["slowdown"] for stream in one.summary["streams"]] for one in (own, member)]
    assert slow[0] == slow[1]
    assert None not in slow[0]


@pytest.mark.parametrize(("policy", "said"), FAULTS)
def test_an_error_in_a_policy_over_a_trace_keeps_the_completed_runs(
    skewed: str, policy: type, said: list[str]
) -> None:
    with pytest.raises(wordline.PolicyError) as raised:
        wordline.cache(skewed, ["lru", policy, "fifo"], [64, 128], out="out")
    for words in said:
        assert words in str(raised.value)
    whole, cut = raised.value.result.runs
    assert (whole["policy"], cut["policy"]) == ("lru", policy.__name__)
    assert 0 < cut["requests"] < whole["requests"]
    assert cut["hits"] <= whole["hits"]
    assert not Path("out").exists()


def test_a_policy_that_cannot_be_created_fails_before_the_run(tiny: str, skewed: str) -> None:
    class Lacking:
        def __init__(self, pages: int) -> None: ...
        def hit(self, page: int, write: bool) -> None: ...
        def evict(self, view: wordline.View) -> int: ...

    def failing(pages: int) -> wordline.Replacement:
        raise OSError("no licence")

    for policy, said in [
        (Lacking, "policy Lacking: the method admit is missing"),
        (failing, "policy failing: creation failed: OSError: no licence"),
        (lambda: LRU(4), "takes 0 positional arguments"),
    ]:
        with pytest.raises(wordline.WordlineError, match=said) as raised:
            wordline.run(tiny, skewed, overrides=BUFFER, buffer=policy, out="out")
        assert not isinstance(raised.value, wordline.RunError)
        assert not Path("out").exists()
        with pytest.raises(wordline.PolicyError, match=said):
            wordline.cache(skewed, policy, 4)


def test_wrong_arguments_are_rejected(tiny: str, skewed: str) -> None:
    with pytest.raises(TypeError, match="a policy must be"):
        wordline.run(tiny, skewed, overrides=BUFFER, buffer="lru")  # pyright: ignore
    with pytest.raises(TypeError, match="a policy must be"):
        wordline.cache(skewed, [3], 4)  # pyright: ignore
    with pytest.raises(wordline.WordlineError, match=r"policy LRU.*buffer\.capacity_kib"):
        wordline.run(tiny, skewed, buffer=LRU)


def test_a_trim_requires_the_method_remove(tiny: str, trimmed: str) -> None:
    class Forgetful(LRU):
        remove: Any = None

    with pytest.raises(wordline.RunError, match=r"is trimmed.*remove\(page\)"):
        wordline.run(tiny, trimmed, overrides=BUFFER, buffer=Forgetful)
    with pytest.raises(wordline.PolicyError, match=r"is trimmed.*remove\(page\)"):
        wordline.cache(trimmed, [Forgetful], 64)


def test_a_keyboard_interrupt_inside_a_policy_interrupts_the_run(tiny: str, skewed: str) -> None:
    class Interrupted(Wrong):
        def go_wrong(self, view: wordline.View) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(wordline.Interrupted) as raised:
        wordline.run(tiny, skewed, overrides=BUFFER, buffer=Interrupted)
    assert raised.value.result.summary["error"] == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        wordline.cache(skewed, Interrupted, 64)


CTRL_C = """
import sys, wordline
from functools import partial
sys.path[:0] = [{tests!r}]
from test_policy import LRU
print("ready", flush=True)
try:
    {call}
except wordline.Interrupted as stopped:
    print(stopped.result.summary["error"], stopped.result.summary["input"]["requests"] > 0)
except KeyboardInterrupt:
    print("interrupted True")
"""


@pytest.mark.parametrize(
    "call",
    [
        'wordline.run("tiny.toml", overrides={"buffer.capacity_kib": 256}, buffer=LRU)',
        'wordline.cache("skewed.csv", [partial(LRU) for _ in range(100_000)], 64)',
    ],
)
def test_ctrl_c_ends_work_that_uses_a_python_policy(
    tiny: str, skewed: str, place: Path, call: str
) -> None:
    (place / tiny).write_text(TINY + "\n[workload]\nrequests = 4000000000\n")
    code = CTRL_C.format(tests=str(Path(__file__).parent), call=call)
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), text=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == "interrupted True\n"


def test_policies_may_run_simulations_and_threads(tiny: str, skewed: str) -> None:
    """A view is valid only for the policy that received it, and in the same thread."""
    asked: list[bool] = []

    class Nested(CFLRU):
        def evict(self, view: wordline.View) -> int:
            if not asked:
                inner = wordline.cache(skewed, [CFLRU], 64)
                asked.append(inner.runs[0]["hits"] > 0)
                thread = threading.Thread(target=self.peek, args=(view,))
                thread.start()
                thread.join()
            return super().evict(view)

        def peek(self, view: wordline.View) -> None:
            with pytest.raises(RuntimeError, match="only be used during the call"):
                view.is_dirty(next(iter(self.pages)))
            asked.append(True)

    alone = wordline.cache(skewed, ["cflru"], [32, 100])
    results: dict[str, wordline.CacheResult] = {}
    classes: dict[str, Callable[[int], Any]] = {"nested": Nested, "plain": CFLRU}

    def run(name: str) -> None:
        results[name] = wordline.cache(skewed, [classes[name]], [32, 100])

    threads = [threading.Thread(target=run, args=(name,)) for name in classes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked == [True, True]
    assert counts(results["nested"], "Nested") == counts(alone, "cflru")
    assert counts(results["plain"], "CFLRU") == counts(alone, "cflru")


def test_an_array_creates_a_policy_for_each_device(tiny: str, place: Path) -> None:
    made: list[int] = []

    class Counted(OrderedDict[int, None]):
        def __init__(self, pages: int) -> None:
            super().__init__()
            made.append(pages)

        def hit(self, page: int, write: bool) -> None:
            self.move_to_end(page)

        def admit(self, page: int, write: bool) -> None:
            self[page] = None

        def evict(self, view: wordline.View) -> int:
            return self.popitem(last=False)[0]

    load = '\n[workload]\nrequests = 3000\nread_ratio = 0.5\n[array]\nlayout = "striped"\n'
    load += "[[array.members]]\ncount = 3\n"
    (place / tiny).write_text(TINY + load)
    overrides = {"buffer.capacity_kib": 256}
    own = wordline.run(tiny, overrides=overrides, buffer=Counted)
    member = wordline.run(tiny, overrides=overrides)
    assert made == [64, 64, 64]
    assert own.summary["digest"] == member.summary["digest"]
    json.dumps(own.summary)
