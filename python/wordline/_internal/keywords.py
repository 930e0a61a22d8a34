"""Options of a function, declared once in a class with names, types, defaults and documentation.
Callers pass them as keywords, or together as an object of the class.

The class behaves like a frozen dataclass. It is not one, because `dataclasses` imports `re` and
`inspect`, which `wordline run` does not need.
"""

from __future__ import annotations

from wordline._internal import arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self, TypeVar, dataclass_transform

    Chosen = TypeVar("Chosen", bound="Options")
    Function = TypeVar("Function", bound=Callable[..., object])
else:

    def dataclass_transform(**_: object) -> object:
        """Stands in for the decorator of `typing`, which only type checkers evaluate."""
        return lambda kind: kind


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """Immutable options by name. Options that are not given have the defaults of the class."""

    def __init__(self, **given: Any) -> None:
        kind = type(self)
        _require_known(kind.__name__, kind, given)
        vars(self).update(given)

    @classmethod
    def hints(cls) -> dict[str, str]:
        """Returns the annotation of each option as a string; options of base classes first."""
        kinds = [kind for kind in reversed(cls.__mro__) if issubclass(kind, Options)]
        return {name: hint for kind in kinds for name, hint in kind.__annotations__.items()}

    def replace(self, **changes: Any) -> Self:
        """Returns a copy with these changes. Raises TypeError for an unknown option."""
        return type(self)(**(vars(self) | changes))

    __replace__ = replace  # `copy.replace` of Python 3.13 calls this.

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.hints())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set; use `replace` to make a changed copy")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted; use `replace` to make a changed copy")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        default = type(self)
        told = (
            f"{name}={value!r}"
            for name, value in zip(self.hints(), self._values(), strict=True)
            if value != getattr(default, name)
        )
        return f"wordline.{default.__name__}({', '.join(told)})"


def takes(kind: type[Options]) -> Callable[[Function], Function]:
    """Decorates a function that takes the options of a class, either in an object `options` or as
    `**keywords`. Appends the documentation of the options to that of the function."""

    def described(function: Function) -> Function:
        function.__doc__ = f"{function.__doc__}\n    {kind.__doc__}"
        vars(function)[OPTIONS] = kind
        return function

    return described


OPTIONS = "_options"


def sign(function: object) -> None:
    """Sets the signature of a function that takes options, with each option as a keyword."""
    kind = getattr(function, OPTIONS, None)
    if kind is None:
        return
    from inspect import Parameter, signature

    bare: Any = function
    own = signature(bare)
    parameters = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(kind, name), annotation=hint)
        for name, hint in kind.hints().items()
    ]
    bare.__signature__ = own.replace(parameters=parameters)


def chosen(
    function: str, kind: type[Chosen], options: Chosen | None, given: Mapping[str, Any]
) -> Chosen:
    """Returns the options of a call: keywords override the options in the object. Raises TypeError
    for an unknown keyword, or an object of another class."""
    _require_known(f"{function}()", kind, given)
    if options is None:
        return kind(**given)
    if not isinstance(options, kind):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"options must be a wordline.{kind.__name__}, not {arguments.shown(options)}"
        )
    return options.replace(**given)


def keyword_types(kind: type[Options], module: str) -> Callable[[str], object]:
    """Returns the `__getattr__` of a module of options. On first use, it creates the types that
    annotations of the keywords name, because `typing` is slow to import."""

    keywords = kind.__name__.replace("Options", "Keywords")

    def found(name: str) -> object:
        if name not in ("Unpack", keywords):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        import typing

        if name == "Unpack":
            return typing.Unpack
        made: Any = typing.TypedDict
        return made(name, typing.get_type_hints(kind), total=False)

    return found


def _require_known(who: str, kind: type[Options], given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in kind.hints():
            from difflib import get_close_matches

            meant = get_close_matches(name, kind.hints(), 1)
            remedy = f"did you mean {meant[0]}?" if meant else f"see wordline.{kind.__name__}"
            raise TypeError(f"{who} has no option {name!r}; {remedy}")
