"""Charts of the report, for use in other pages."""
