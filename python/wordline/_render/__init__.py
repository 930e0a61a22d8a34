"""Presentation of results: HTML pages, charts, text and terminal output. Independent of the
commands."""
