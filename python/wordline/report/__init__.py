"""Charts of the report, for pages of your own."""
