"""What studies read off a summary."""

from wordline.summary import Summary


def gain(first: float, last: float) -> float:
    """By how much the last is above the first. Per cent."""
    return 100 * (last / first - 1)


def iops(summary: Summary) -> float:
    """Requests completed a second."""
    return summary["throughput"]["iops"]


def latency_us(summary: Summary) -> float:
    """Mean response time of reads and writes."""
    return summary["latency"]["all"]["mean_us"] or 0.0


def idle_percent(summary: Summary) -> float:
    """Share of the dies' time in which they did nothing."""
    return 100 * summary["execution"]["idle"]
