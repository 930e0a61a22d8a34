"""The chart of latencies as the host sees them, above what the device did."""

from wordline._render.report.views import views

__all__ = ["views"]
