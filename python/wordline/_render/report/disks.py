"""Charts of hard disks: seek distances."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline._render.plotly import EACH, LINEAR, Figure, figure, legend


def seeks(disks: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Draws accesses by seek distance, a bar per power of two and disk."""
    ranges = sorted(
        {
            (row["from_cylinders"], row["to_cylinders"])
            for disk in disks
            for row in disk["seek_distances"]
        }
    )
    if not any(last for _, last in ranges):
        return None
    names = [_range(*one) for one in ranges]
    data: list[Figure] = []
    for place, disk in enumerate(disks):
        counts = {
            (row["from_cylinders"], row["to_cylinders"]): row["accesses"]
            for row in disk["seek_distances"]
        }
        data.append(
            {
                "type": "bar",
                "name": disk["name"],
                "x": names,
                "y": [counts.get(one, 0) for one in ranges],
                "marker": {"color": EACH[place % len(EACH)]},
                "hovertemplate": "%{x} cylinders: %{y:,} accesses",
            }
        )
    return figure(
        data,
        height=300,
        hovermode="closest",
        barmode="group",
        showlegend=len(disks) > 1,
        xaxis={"title": {"text": "seek distance (cylinders)"}, "type": "category"},
        yaxis={"title": {"text": "accesses"}, **LINEAR},
        legend=legend(traceorder="normal"),
    )


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"
