"""Version of the installed Wordline."""

from wordline import _wordline


def installed() -> str:
    """Returns the version number, such as 0.1.0. `importlib.metadata` returns the same, but its
    import takes as long as reading a small trace."""
    return _wordline.VERSION
