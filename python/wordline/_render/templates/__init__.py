"""Page templates, style sheets and scripts."""
