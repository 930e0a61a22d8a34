"""Conditions on keys, such as `ftl.gc.victim == "fifo" or host.queue_depth > 8`."""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wordline._wordline import WordlineError

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda one, other: one / other,
    ast.Mod: operator.mod,
}
Values = Mapping[str, object]


class Condition:
    """A condition on the values of keys: comparisons, `and`, `or`, `not`, `in` and arithmetic."""

    def __init__(self, text: str, keys: Sequence[str], where: str = "when") -> None:
        """Raises WordlineError if the condition cannot be parsed, or names a key that is not one of
        `keys`."""
        self.text = text
        self._where = where
        self._names: dict[str, str] = {}
        replaced = text
        for place, key in enumerate(sorted(keys, key=len, reverse=True)):
            name = f"_key{place}_"
            word = rf"(?<![\w.]){re.escape(key)}(?![\w-]|\.\w)"
            # Text in quotes is not replaced.
            parts = re.split(r"(\"[^\"]*\"|'[^']*')", replaced)
            parts[::2] = [re.sub(word, name, part) for part in parts[::2]]
            replaced = "".join(parts)
            self._names[name] = key
        try:
            self._tree = ast.parse(replaced, mode="eval").body
        except SyntaxError:
            raise self._fault(
                "is not a condition; write, for example, ftl.gc.victim == 'fifo'"
            ) from None
        self._check(keys)

    def holds(self, values: Values) -> bool:
        """Returns True if the values meet the condition. Raises WordlineError if it cannot be
        evaluated for them."""
        try:
            return bool(self._value(self._tree, values))
        except (TypeError, ZeroDivisionError) as fault:
            raise self._fault(f"cannot be evaluated for these values: {fault}") from None

    def _check(self, keys: Sequence[str]) -> None:
        for node in ast.walk(self._tree):
            named = isinstance(node, ast.Attribute) or (
                isinstance(node, ast.Name) and node.id not in self._names
            )
            if named:
                known = ", ".join(keys)
                name = ast.unparse(node)
                raise self._fault(f"{name} does not vary; the varied keys are {known}")

    def _value(self, node: ast.expr, values: Values) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return values.get(self._names[name])
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(item, values) for item in items]
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self._value(part, values) for part in parts)
            case ast.BoolOp(values=parts):
                return any(self._value(part, values) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand, values)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, values)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._value(left, values), self._value(right, values))
            case ast.Compare(left=left, ops=ops, comparators=others):
                ends = [self._value(part, values) for part in (left, *others)]
                pairs = zip(ops, ends, ends[1:], strict=False)
                return all(_COMPARISONS[type(op)](one, other) for op, one, other in pairs)
            case _:
                raise self._fault(
                    f"{ast.unparse(node)} is not allowed in a condition; compare keys with values"
                )

    def _fault(self, reason: str) -> WordlineError:
        return WordlineError(f"{self._where} = {self.text!r}: {reason}")
