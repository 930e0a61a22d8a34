"""The XML files of MQSim: the parameters of their elements."""

from dataclasses import dataclass, field
from typing import Never
from xml.etree import ElementTree

from wordline._internal import small_file
from wordline._wordline import WordlineError


@dataclass
class Parameters:
    """The parameters of one element, of which each is taken once and none is left unseen."""

    file: str
    name: str
    values: dict[str, str]
    taken: set[str] = field(default_factory=set[str])

    def fault(self, key: str, reason: str) -> Never:
        """Raises WordlineError for a parameter."""
        raise WordlineError(f"{self.file}: {self.name}: {key}: {reason}")

    def text(self, key: str, default: str) -> str:
        """A parameter as it stands there, else MQSim's default."""
        self.taken.add(key)
        return self.values.get(key, default).strip()

    def word(self, key: str, default: str, known: str) -> str:
        """One of some words, in either case."""
        word = self.text(key, default).upper()
        if word not in known.split():
            self.fault(key, f"`{word}` is not one of {', '.join(known.split())}; give one of them")
        return word

    def number(self, key: str, default: float, low: float = 0) -> float:
        """A number from `low` on."""
        text = self.text(key, str(default))
        try:
            value = float(text)
        except ValueError:
            self.fault(key, f"`{text}` is not a number; give one")
        if not low <= value < 1e19:
            self.fault(key, f"{text} is below {low:g} or too large; give a number from {low:g} on")
        return value

    def whole(self, key: str, default: int, low: int = 0) -> int:
        """A whole number from `low` on."""
        value = self.number(key, default, low)
        if value != int(value):
            self.fault(key, f"{value} is not a whole number; give one")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        return self.word(key, str(default), "TRUE FALSE") == "TRUE"


def parse(file: str) -> ElementTree.Element:
    """The root of an XML file that declares no document type and so no entities."""
    try:
        data = small_file.read(file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WordlineError(f"{file}: cannot be read: {reason}; check the path") from error
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise WordlineError(f"{file}: declares a document type; take that out")
    try:
        return ElementTree.fromstring(data)  # noqa: S314 - without entities
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise WordlineError(f"{file}: is no XML: {error}; name a file of MQSim") from error


def only(file: str, element: ElementTree.Element, tag: str) -> ElementTree.Element | None:
    """The only element of a name, if there is one. Raises WordlineError for more."""
    found = list(element.iter(tag))
    if len(found) > 1:
        raise WordlineError(f"{file}: {tag} stands there {len(found)} times; leave one")
    return found[0] if found else None


def parameters(
    file: str,
    element: ElementTree.Element | None,
    name: str = "",
    inner: set[str] | None = None,
) -> Parameters:
    """The parameters of an element, apart from its `inner` elements; none if there is none."""
    if element is None:
        return Parameters(file, name, {})
    values: dict[str, str] = {}
    for child in element:
        if child.tag in (inner or ()):
            continue
        if len(child) or child.tag in values:
            reason = "holds other elements" if len(child) else "stands there twice"
            raise WordlineError(f"{file}: {element.tag}: {child.tag} {reason}; take it out")
        values[child.tag] = child.text or ""
    return Parameters(file, name or element.tag, values)


def flows_of(file: str, scenario: int, notes: list[str]) -> list[Parameters]:
    """The flows of a scenario, counted from 1. Raises WordlineError."""
    scenarios = list(parse(file).iter("IO_Scenario"))
    if not 1 <= scenario <= len(scenarios):
        raise WordlineError(
            f"{file}: has no IO_Scenario {scenario}; it has {len(scenarios)}: choose with "
            "--scenario, counted from 1"
        )
    if len(scenarios) > 1:
        notes.append(f"{file}: IO_Scenario {scenario} of {len(scenarios)}; --scenario chooses")
    known = ("IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based")
    flows: list[Parameters] = []
    for number, element in enumerate(scenarios[scenario - 1], 1):
        if element.tag not in known:
            raise WordlineError(f"{file}: {element.tag} is no flow; give {' or '.join(known)}")
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
