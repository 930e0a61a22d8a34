"""Pages, charts and the terminal: results, summaries and tables become HTML, text or what rich
prints. No command is known here."""
