"""Parses the XML files of MQSim into the parameters of their elements."""

from dataclasses import dataclass, field
from typing import Never
from xml.etree import ElementTree

from wordline._internal import small_file
from wordline._render.units import many
from wordline._wordline import WordlineError


@dataclass
class Parameters:
    """Parameters of one element. Each parameter is read once; parameters that were not read are
    reported."""

    file: str
    name: str
    values: dict[str, str]
    taken: set[str] = field(default_factory=set[str])

    def fault(self, key: str, reason: str) -> Never:
        """Raises WordlineError for a parameter."""
        raise WordlineError(f"{self.file}: {self.name}: {key}: {reason}")

    def text(self, key: str, default: str) -> str:
        """Returns a parameter as text, or MQSim's default."""
        self.taken.add(key)
        return self.values.get(key, default).strip()

    def word(self, key: str, default: str, known: str) -> str:
        """Returns a parameter in upper case. Raises WordlineError unless it is one of the words
        `known`."""
        word = self.text(key, default).upper()
        if word not in known.split():
            self.fault(key, f"`{word}` is not one of {', '.join(known.split())}")
        return word

    def number(self, key: str, default: float, low: float = 0) -> float:
        """Returns a parameter as a number of at least `low`."""
        text = self.text(key, str(default))
        try:
            value = float(text)
        except ValueError:
            self.fault(key, f"`{text}` is not a number; give a number")
        if not low <= value < 1e19:
            self.fault(
                key, f"{text} is not at least {low:g} and below 1e19; give a number in that range"
            )
        return value

    def whole(self, key: str, default: int, low: int = 0) -> int:
        """Returns a parameter as an integer of at least `low`."""
        value = self.number(key, default, low)
        if value != int(value):
            self.fault(key, f"{value} is not a whole number; give a whole number")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """Returns a parameter that is TRUE or FALSE."""
        return self.word(key, str(default), "TRUE FALSE") == "TRUE"


def parse(file: str) -> ElementTree.Element:
    """Returns the root of an XML file. Rejects a document type declaration, which could define
    entities."""
    try:
        data = small_file.read(file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WordlineError(f"{file}: cannot be read: {reason}; check the path") from error
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise WordlineError(f"{file}: declares a document type; remove the declaration")
    try:
        return ElementTree.fromstring(data)  # noqa: S314 - without entities
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise WordlineError(f"{file}: is not XML: {error}; name an MQSim file") from error


def only(file: str, element: ElementTree.Element, tag: str) -> ElementTree.Element | None:
    """Returns the only element with a name, or None. Raises WordlineError if there are several."""
    found = list(element.iter(tag))
    if len(found) > 1:
        raise WordlineError(f"{file}: {tag} occurs {len(found)} times; keep one element")
    return found[0] if found else None


def parameters(
    file: str,
    element: ElementTree.Element | None,
    name: str = "",
    inner: set[str] | None = None,
) -> Parameters:
    """Returns the parameters of an element without its `inner` elements; none if it is missing."""
    if element is None:
        return Parameters(file, name, {})
    values: dict[str, str] = {}
    for child in element:
        if child.tag in (inner or ()):
            continue
        if len(child) or child.tag in values:
            reason = "holds other elements; remove them" if len(child) else "occurs twice; keep one"
            raise WordlineError(f"{file}: {element.tag}: {child.tag} {reason}")
        values[child.tag] = child.text or ""
    return Parameters(file, name or element.tag, values)


def flows_of(file: str, scenario: int, notes: list[str]) -> list[Parameters]:
    """Returns the flows of a scenario, counted from 1. Raises WordlineError."""
    scenarios = list(parse(file).iter("IO_Scenario"))
    if not 1 <= scenario <= len(scenarios):
        raise WordlineError(
            f"{file}: has no IO_Scenario {scenario}, because it has "
            f"{many(len(scenarios), 'scenario')}; choose one with --scenario, counted from 1"
        )
    if len(scenarios) > 1:
        notes.append(
            f"{file}: IO_Scenario {scenario} of {len(scenarios)}; --scenario selects another"
        )
    known = ("IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based")
    flows: list[Parameters] = []
    for number, element in enumerate(scenarios[scenario - 1], 1):
        if element.tag not in known:
            raise WordlineError(f"{file}: {element.tag} is not a flow; give {' or '.join(known)}")
        flow = parameters(file, element)
        flow.name = f"flow {number}"
        if element.tag == known[1] and not flow.values.get("File_Path", "").strip():
            raise WordlineError(f"{file}: flow {number}: File_Path is missing; name its trace")
        if element.tag == known[0]:
            flow.values.pop("File_Path", None)
        flows.append(flow)
    if not flows:
        raise WordlineError(f"{file}: IO_Scenario {scenario} has no flow; give it one")
    return flows
