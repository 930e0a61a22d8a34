"""Study `host-side`: claims, and conservation of time in a run."""

import json

import pytest

import wordline
import wordline_studies as studies
from wordline_studies.figure import Setup
from wordline_studies.host_side import runs
from wordline_studies.results import run


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Results of the quick study."""
    place = tmp_path_factory.mktemp("study") / "host-side"
    run(studies.load("host-side"), Setup(quick=True)).write(place)
    return json.loads((place / "study.json").read_text())


def test_no_claim_has_an_unexpected_outcome(told: dict) -> None:
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert all(claim["because"] or claim["only_told"] for claim in claims if not claim["holds"])


def test_all_claims_of_the_chapter_are_present(told: dict) -> None:
    texts = [claim["text"] for figure in told["figures"] for claim in figure["claims"]]
    for name in ("H1", "H2", "H3", "H4", "H5"):
        assert any(text.startswith(f"{name}: ") for text in texts), name


@pytest.mark.parametrize("drive", ["fssd", "bssd"])
def test_time_is_conserved(drive: str) -> None:
    """The latency components sum to the response time, and the service time equals CPU and bridge
    time."""
    case = runs.case(Setup(), drive, runs.host_side(drive, 5000), 2, requests=4000)
    summary = wordline.run(case.device, overrides=dict(case.overrides)).summary
    parts = summary["breakdown"]["write"]
    mean = summary["latency"]["write"]["mean_us"]
    times = [value for key, value in parts.items() if key.endswith("_us") and value]
    assert sum(times) == pytest.approx(mean, rel=1e-9)
    side = summary["host_side"]
    cpu = side["cpu_worker_s"] + side["cpu_lookup_s"] + side["cpu_update_s"]
    span = summary["time"]["simulated_s"] - summary["time"]["first_arrival_s"]
    bridge = side["bridge_utilisation"] * span
    assert parts["host_side_us"] * 4000 == pytest.approx((cpu + bridge) * 1e6, rel=1e-9)
    assert side["held_mean"] == pytest.approx(mean * 4000 / 1e6 / span, rel=1e-9)


def test_the_summary_has_no_host_side_without_one() -> None:
    case = runs.case(Setup(), "fssd", None, requests=1000)
    assert wordline.run(case.device, overrides=dict(case.overrides)).summary["host_side"] is None
