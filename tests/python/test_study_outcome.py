"""Outcomes of published numbers: tolerance, sign, order and the entries that exclude a number."""

from itertools import permutations
from math import nan

import pytest

from wordline_studies.figure import Figure, Published, Row
from wordline_studies.outcome import (
    OUTCOME_LABELS,
    OUTCOME_MARKS,
    OUTCOMES,
    Outcome,
    numbers,
    outcomes,
    ranked,
    reason,
)
from wordline_studies.published import Range


def row(ours: float | None, published: float | Range, unit: str = "µs") -> Row:
    return Row("", ours, unit, Published(published, unit, "1"))


def change(ours: float, published: float | Range) -> Row:
    """Returns a row of a gain or change in per cent."""
    return Row("", ours, "%", Published(published, "%", "1", comparison=True))


def alone(one: Row) -> Outcome | None:
    return outcomes([one])[0]


@pytest.mark.parametrize(
    "one",
    [
        row(115, 100),
        row(85, 100),
        row(1.15, 1.0),
        row(0.85, 1.0),
        row(2.3, 2.0, "times"),
        row(-85, -100),
        row(100, 100),
        row(0, 0, "GB"),
        row(45, 40, "%"),
        row(35, 40, "%"),
        row(7.3, 2.3, "%"),
        row(-1.5, -6.5, "points"),
        change(-43, -48),
        change(2, -3),
        change(4, 0),
        # Ranges: inside, and outside by the tolerance of the nearer end.
        row(150, (100, 200)),
        row(85, (100, 200)),
        row(230, (100, 200)),
        row(1, (2, 2.2), "%"),
        row(25, (10, 20), "%"),
        row(5, (10, 20), "%"),
        row(0, (0, 7), "GB"),
    ],
)
def test_a_value_within_the_tolerance_is_reproduced(one: Row) -> None:
    assert alone(one) == "reproduced"


@pytest.mark.parametrize(
    "one",
    [
        row(115.01, 100),
        row(84.99, 100),
        row(0.001, 0, "GB"),
        row(45.01, 40, "%"),
        row(34.99, 40, "%"),
        row(84.9, (100, 200)),
        row(230.1, (100, 200)),
        row(25.1, (10, 20), "%"),
        row(4.9, (10, 20), "%"),
        # 12 % of the value, but more than 5 points.
        row(112, 100, "%"),
    ],
)
def test_a_single_level_beyond_the_tolerance_is_contradicted(one: Row) -> None:
    assert alone(one) == "contradicted"


@pytest.mark.parametrize(
    ("one", "outcome"),
    [
        (change(7.3, 39.2), "direction"),
        (change(-10, -48), "direction"),
        (change(-0.1, 39.2), "contradicted"),
        (change(10, -48), "contradicted"),
        (change(0, -48), "contradicted"),
        (change(8, 0), "contradicted"),
        (change(90, (20, 40)), "direction"),
        (change(-6, (0, 7)), "contradicted"),
        (change(13, (0, 7)), "direction"),
        (row(6.0, 2.0, "times"), "direction"),
        (row(1.01, 2.0, "times"), "direction"),
        (row(1.0, 2.0, "times"), "contradicted"),
        (row(0.99, 2.0, "times"), "contradicted"),
        (row(0.1, 0.5, "times"), "direction"),
        (row(1.2, 0.5, "times"), "contradicted"),
        (row(9.0, (2.0, 3.0), "times"), "direction"),
        (row(0.5, (1.0, 3.0), "times"), "contradicted"),
        (row(8.0, 2.0, "points"), "direction"),
        (row(-8.0, 2.0, "points"), "contradicted"),
    ],
)
def test_a_comparison_is_judged_by_its_sign(one: Row, outcome: Outcome) -> None:
    assert alone(one) == outcome


def test_the_comparison_key_of_an_entry_overrides_its_unit() -> None:
    level = Row("", 6.0, "times", Published(2.0, "times", "1", comparison=False))
    assert not level.is_comparison
    assert alone(level) == "contradicted"


def test_levels_beyond_the_tolerance_are_judged_by_their_order() -> None:
    assert outcomes([row(10, 100), row(20, 200)]) == ["direction", "direction"]
    assert outcomes([row(20, 100), row(10, 200)]) == ["contradicted", "contradicted"]
    assert outcomes([row(20, 100), row(20, 200)]) == ["contradicted", "contradicted"]


def test_tied_rows_are_ordered_only_against_the_other_rows() -> None:
    """100 and 110 are within the tolerance of each other, so that neither is first; both are before
    200."""
    right, tied, last = row(10, 100), row(9, 110), row(20, 200)
    for rows in permutations((right, tied, last)):
        assert outcomes(rows) == ["direction"] * 3
    # The second row comes after the last row, so this pair is wrong for both. The first row is not
    # part of it.
    late = row(21, 110)
    assert outcomes([right, late, last]) == ["direction", "contradicted", "contradicted"]


def test_two_tied_rows_have_no_order() -> None:
    assert outcomes([row(10, 100), row(20, 110)]) == ["contradicted"] * 2
    assert outcomes([row(10, 100), row(20, 115)]) == ["contradicted"] * 2
    assert outcomes([row(10, 100), row(20, 116)]) == ["direction"] * 2
    assert outcomes([row(50, 10, "%"), row(60, 15, "%")]) == ["contradicted"] * 2
    assert outcomes([row(50, 10, "%"), row(60, 15.1, "%")]) == ["direction"] * 2


def test_ranges_are_ordered_by_the_gap_between_them() -> None:
    assert outcomes([row(1, (10, 100)), row(2, (110, 200))]) == ["contradicted"] * 2
    assert outcomes([row(1, (10, 100)), row(2, (120, 200))]) == ["direction"] * 2
    assert outcomes([row(1, (10, 100)), row(2, (50, 200))]) == ["contradicted"] * 2


def test_comparisons_are_judged_by_sign_and_order() -> None:
    assert outcomes([change(7, 39), change(9, 25)]) == ["contradicted", "contradicted"]
    assert outcomes([change(9, 39), change(7, 25)]) == ["direction", "direction"]
    # The tie with the second row decides nothing.
    assert outcomes([change(7, 39), change(9, 35)]) == ["direction", "direction"]


def test_only_rows_of_the_same_unit_with_both_values_are_ordered() -> None:
    one = row(10, 100)
    for other in (row(20, 200, "ms"), row(None, 200), Row("", 20, "µs")):
        assert outcomes([one, other])[0] == "contradicted"


def test_a_reproduced_row_takes_part_in_the_order_of_the_others() -> None:
    assert outcomes([row(100, 100), row(120, 200)]) == ["reproduced", "direction"]
    assert outcomes([row(100, 100), row(90, 200)]) == ["reproduced", "contradicted"]


@pytest.mark.parametrize("ours", [100.0, 1.0])
def test_a_fitted_number_is_never_reproduced(ours: float) -> None:
    one = Row("", ours, "µs", Published(100.0, "µs", "1", fitted="the load"))
    assert alone(one) == "fitted"
    assert reason(one, "fitted") == "the load"


def test_a_number_that_cannot_be_asserted_has_its_own_outcome() -> None:
    number = Published(100.0, "µs", "1", fitted="the load", not_assertable="the host")
    for ours in (100.0, None):
        one = Row("", ours, "µs", number)
        assert alone(one) == "not_assertable"
        assert reason(one, "not_assertable") == "the host"


@pytest.mark.parametrize("fitted", ["", "the load"])
@pytest.mark.parametrize("ours", [None, nan])
def test_a_number_without_a_simulated_value_is_not_run(fitted: str, ours: float | None) -> None:
    one = Row("", ours, "µs", Published(0.0, "µs", "1", fitted=fitted), missing="a recording")
    assert one.ours is None
    assert alone(one) == "not_run"
    assert reason(one, "not_run") == "a recording"


def test_a_row_without_a_published_value_has_no_outcome() -> None:
    assert alone(Row("", 1.0, "µs")) is None
    assert reason(Row("", 1.0, "µs"), None) == ""


def test_rows_with_a_published_value_come_first_in_their_order() -> None:
    ours, other = Row("ours", 1.0, "µs"), Row("other", 2.0, "µs")
    first, second = row(1, 1), row(None, 2)
    assert [one for one, _ in ranked([ours, first, other, second])] == [first, second, ours, other]


def test_outcomes_are_counted_over_figures() -> None:
    rows = [row(100, 100), row(1, 200), Row("ours", 1.0, "µs"), row(None, 1)]
    one = Figure("1", "", "", "", rows=rows)
    other = Figure("2", "", "", "", rows=[change(7.3, 39.2)])
    assert numbers([one, other]) == {
        "reproduced": 1,
        "direction": 1,
        "contradicted": 1,
        "fitted": 0,
        "not_assertable": 0,
        "not_run": 1,
    }


def shown(*ours: float, other: float | None = None) -> Figure:
    """Returns a figure that compares one published number of 40 % with several values, and with one
    under another reading."""
    number = Published(40.0, "%", "1", comparison=True, entry="1: gain")
    rows = [Row("", one, "%", number) for one in ours]
    if other is not None:
        rows.append(Row("", other, "%", number, other_reading=True))
    return Figure("1", "", "", "", rows=rows)


@pytest.mark.parametrize(
    ("figure", "outcome"),
    [
        (shown(40, 38), "reproduced"),
        (shown(40, 10), "direction"),
        (shown(-1, 40, 10), "contradicted"),
        (shown(10, other=40), "direction"),
        (shown(40, other=-1), "reproduced"),
        (shown(other=40), "reproduced"),
    ],
)
def test_a_number_of_several_rows_counts_once_with_the_worst_outcome(
    figure: Figure, outcome: Outcome
) -> None:
    assert {one: count for one, count in numbers([figure]).items() if count} == {outcome: 1}


def test_a_number_of_several_figures_counts_once() -> None:
    assert sum(numbers([shown(40), shown(10)]).values()) == 1


def test_every_outcome_has_a_label_and_a_mark() -> None:
    assert list(OUTCOME_LABELS) == list(OUTCOMES)
    assert list(OUTCOME_MARKS) == list(OUTCOMES)
    assert len({OUTCOME_MARKS[one] for one in OUTCOMES[:3]}) == 3
