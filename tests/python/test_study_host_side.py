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


def data(told: dict, figure: str) -> dict:
    return next(one["data"] for one in told["figures"] if one["id"] == figure)


def test_throughput_times_response_time_is_the_number_of_outstanding_requests(told: dict) -> None:
    """Little's law, with one outstanding request per worker and with a queue."""
    for name, us in data(told, "4.7")["mean_us"].items():
        iops = data(told, "4.7")["iops"][name]
        assert us * iops / 1e6 == pytest.approx(int(name.split()[1]), rel=0.01)
    queues = data(told, "4.9")
    for drive in runs.DRIVES:
        us, iops = (
            [queues[name][f"{drive} {mode}"] for mode in ("queued", "legacy")]
            for name in ("mean_us", "iops")
        )
        assert us[0] / us[1] * iops[0] / iops[1] == pytest.approx(runs.QUEUE, rel=0.03)


def test_lock_thread_and_bridge_bound_throughput(told: dict) -> None:
    workers, queues = data(told, "4.7")["iops"], data(told, "4.9")["iops"]
    assert workers["fssd 8"] / workers["fssd 1"] == pytest.approx(1 / runs.LOCKED, rel=0.03)
    for drive, bound in (("fssd", runs.FREE + runs.LOCKED), ("bssd", runs.BRIDGED)):
        gain = queues[f"{drive} queued"] / queues[f"{drive} legacy"]
        assert gain == pytest.approx(1 / bound, rel=0.03)


@pytest.mark.parametrize("drive", ["fssd", "bssd"])
def test_time_is_conserved(drive: str) -> None:
    """The latency components add up to the response time, and the host-side component equals the
    CPU time plus the bridge time. The mean number of outstanding requests follows Little's law."""
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


def test_the_summary_of_a_device_without_a_host_side_has_none() -> None:
    case = runs.case(Setup(), "fssd", None, requests=1000)
    assert wordline.run(case.device, overrides=dict(case.overrides)).summary["host_side"] is None
