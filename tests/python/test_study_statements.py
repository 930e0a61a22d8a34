"""Outcomes of published orders and trends, which claims test."""

import pytest

from wordline_studies.figure import Claim, Figure, Setup, Study
from wordline_studies.published import Numbers, Statement
from wordline_studies.results import run
from wordline_studies.statements import StatementOutcome, judged, statement_counts

HOLDS = Claim("a", True, "1 of 1", ids=("X-1",))
DIFFERS = Claim("b", False, "0 of 1", because="the model says so", ids=("X-1",))
FAILED = Claim("c", False, "0 of 1", ids=("X-1",))
TOLD = Claim("d", True, "1 of 1", report_only="too few requests", ids=("X-1",))
ORDER = Statement(("X-1",), "reads are faster than writes", "1.1")


def figure(*claims: Claim) -> Figure:
    return Figure("1", "Figure 1", "1.1", "Nothing.", claims=claims)


@pytest.mark.parametrize(
    ("claims", "outcome"),
    [
        ([HOLDS], "holds"),
        ([HOLDS, HOLDS], "holds"),
        ([HOLDS, DIFFERS], "contradicted"),
        ([FAILED], "contradicted"),
        ([TOLD], "not_run"),
        ([HOLDS, TOLD], "holds"),
    ],
)
def test_claims_decide_the_outcome(claims: list[Claim], outcome: StatementOutcome) -> None:
    (found,) = judged([ORDER], [figure(*claims)])
    assert found.outcome == outcome
    assert found.reason == ("too few requests" if outcome == "not_run" else "")


@pytest.mark.parametrize("outcome", ["fitted", "not_assertable", "not_run"])
def test_a_stated_reason_decides_before_the_claims(outcome: StatementOutcome) -> None:
    statement = Statement(("X-1",), "a", "1.1", **{outcome: "why"})  # pyright: ignore
    (found,) = judged([statement], [figure(HOLDS)])
    assert (found.outcome, found.reason) == (outcome, "why")


def test_a_statement_without_claim_and_reason_is_an_error() -> None:
    with pytest.raises(ValueError, match="no claim tests X-1"):
        judged([ORDER], [figure()])


def test_a_claim_with_an_unknown_id_is_an_error() -> None:
    with pytest.raises(ValueError, match="no statement has: X-1"):
        judged([], [figure(HOLDS)])


def test_numbers_are_counted_separately_from_orders_and_trends() -> None:
    number = Statement(("X-2",), "a size", "1.1", 3.0, "GB", not_assertable="it is of hardware")
    found = judged([ORDER, number], [figure(HOLDS)])
    assert statement_counts(found, numbers=False)["holds"] == 1
    assert sum(statement_counts(found, numbers=False).values()) == 1
    assert statement_counts(found, numbers=True)["not_assertable"] == 1


def test_results_count_a_number_that_no_row_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    number = Statement(("X-2",), "a size", "1.1", 3.0, "GB", not_assertable="it is of hardware")
    monkeypatch.setattr(Numbers, "statements", (ORDER, number))
    study = Study("test", "A", "B", (lambda _: figure(HOLDS),), published=Numbers("nothing"))
    results = run(study, Setup())
    assert results.numbers["not_assertable"] == 1
    assert results.orders["holds"] == 1
    told = results.to_json()
    assert [one["ids"] for one in told["statements"]] == [("X-1",), ("X-2",)]
    assert told["statements"][0]["figures"] == ["1"]
