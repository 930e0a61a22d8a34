"""Public interface of `import wordline`: runs, traces, presets and policies."""
