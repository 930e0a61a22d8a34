"""Checks of arguments: TypeError for a wrong type, WordlineError for a wrong value."""

from __future__ import annotations

from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 2**64 - 1


def shown(value: object) -> str:
    """Returns the representation of a value in messages: its `repr`, truncated to a readable
    length."""
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 120
    return short.repr(value)


def whole(name: str, value: object, least: int, most: int = MOST) -> int:
    """Returns an integer argument. Raises TypeError for another type, including a Boolean, and
    WordlineError unless it is from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {shown(value)}")
    if not least <= value <= most:
        limit = "2^64 - 1" if most == MOST else most
        raise WordlineError(
            f"{name}: {shown(value)} is not between {least} and {limit}; "
            "give a number in that range"
        )
    return value


def flag(name: str, value: object) -> bool:
    """Returns a Boolean argument. Raises TypeError for another type."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return value


def choice(name: str, value: object, known: tuple[str, ...]) -> str:
    """Returns a string argument. Raises TypeError for another type, and WordlineError unless it is
    one of `known`."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {shown(value)}")
    if value not in known:
        raise WordlineError(f"{name}: {shown(value)} is not one of {', '.join(known)}")
    return value


def path(name: str, value: object, what: str = "a path") -> str:
    """Returns a path as a string. `what` describes the expected value in messages.

    Raises TypeError for any other value, such as a number, an open file or a path in bytes.
    """
    spoken: Any = getattr(value, "__fspath__", None)
    text: object = spoken() if callable(spoken) else value
    if isinstance(text, str):
        return text
    remedy = ""
    if hasattr(value, "read") or hasattr(value, "write"):
        own: Any = getattr(value, "name", None)
        own = repr(own) if isinstance(own, str) else "its path"
        remedy = f"; give {own} instead of an open file"
    elif isinstance(text, bytes):
        remedy = "; decode it with os.fsdecode"
    raise TypeError(f"{name} must be {what}, not {shown(value)}{remedy}")


def toml_value(text: str) -> Any:
    """Parses a TOML value. Text that is not TOML is returned unchanged."""
    import tomllib

    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def share(name: str, value: object) -> float:
    """Returns an argument that is a fraction above 0 and at most 1. Raises TypeError or
    WordlineError."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    if not 0 < value <= 1:
        raise WordlineError(
            f"{name}: {value} is not above 0 and at most 1; give a share of the pages"
        )
    return float(value)
