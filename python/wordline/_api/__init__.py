"""Runs, traces and what Wordline comes with, as `import wordline` offers them."""
