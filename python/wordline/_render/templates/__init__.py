"""Templates of pages, their style and scripts."""
