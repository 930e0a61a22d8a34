"""Section 2.9: speed of the simulator."""

from wordline_studies.figure import Figure, Row, Setup
from wordline_studies.nand.modes import PUBLISHED, part

DIES = {"DDP": 2, "ODP": 8}
REQUESTS = 400_000


def figure(setup: Setup) -> Figure:
    """Returns the figure for requests per CPU second on the document's set-ups."""
    rows: list[Row] = []
    for name, dies in DIES.items():
        package = part(setup, dies=dies)
        published = PUBLISHED("speed", f"{name}: transactions per CPU second")
        told = package.stream("program", requests=setup.requests(REQUESTS), queue_depth=4 * dies)
        rate = told["speed"]["transactions_per_cpu_s"]
        rows.append(
            Row(
                f"{name}: transactions per CPU second, writes of 2 KiB",
                rate,
                published.unit,
                published,
            )
        )
    return Figure(
        id="speed",
        title="Simulation speed",
        section="2.9",
        measured=(
            "Legacy transactions per CPU second of this machine: 2 KiB writes on two dies "
            "(DDP) and eight dies (ODP) of MLC1. A request is one transaction. The document's "
            "simulator ran on a virtual machine with two cores in 2012."
        ),
        rows=rows,
        explanation=[
            "The numbers depend on the machine, and on whether the extension was built with "
            "optimisation; they are not tested. This simulator processes events, four for a "
            "legacy program, whatever the time between them. The document's simulator steps "
            "through clock cycles and skips those without changes.",
        ],
        timed=True,
    )
