"""What the terminal shows of results."""
