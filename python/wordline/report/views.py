"""Chart of the latencies that the host sees, over the activity of the device."""

from wordline._render.report.views import views

__all__ = ["views"]
