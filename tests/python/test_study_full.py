"""Studies that simulate fewer requests than the publication by default: the full size gives the
same verdicts."""

import pytest

import wordline_studies as studies
from wordline_studies.figure import Setup
from wordline_studies.outcome import by_number
from wordline_studies.results import Results, run

SHORTENED = [name for name in studies.STUDIES if studies.load(name).shortened]


def verdicts(results: Results) -> dict[tuple[str, str], str]:
    """Returns the verdicts of the claims by figure and text, and the outcomes of the published
    orders and trends by their ids and of the published numbers by their entries."""
    claims = {
        (figure.id, claim.text): claim.verdict
        for figure in results.figures
        for claim in figure.claims
    }
    statements = {
        ("statement", " ".join(one.statement.ids)): one.outcome for one in results.statements
    }
    numbers = {("number", entry): outcome for entry, outcome in by_number(results.figures).items()}
    return claims | statements | numbers


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORTENED)
def test_no_verdict_differs_from_the_full_size(name: str) -> None:
    study = studies.load(name)
    usual, full = (verdicts(run(study, Setup(full=full))) for full in (False, True))
    found = {key: (verdict, full.get(key)) for key, verdict in usual.items()}
    assert {key: both for key, both in found.items() if both[0] != both[1]} == {}
    assert [key for key, verdict in full.items() if verdict == "failed"] == []
