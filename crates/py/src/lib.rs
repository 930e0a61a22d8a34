//! The Python extension module of Wordline. Thin, no logic.
