"""Layers of packages: imports point downwards only, without cycles. Imports inside functions count;
imports for type checkers do not."""

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import wordline

SOURCE = Path(__file__).parents[2] / "python"
STUDIES = "wordline_studies"
LAYERS = (
    {"wordline", "wordline.summary"},
    {"wordline._internal"},
    {"wordline._render"},
    {"wordline._api"},
    {"wordline._importers", "wordline._sweep"},
    {"wordline._caching", "wordline._calibration", "wordline._search", "wordline._lab"},
    {"wordline._dev"},
    {"wordline.cli", "wordline.fio", "wordline.mqsim", "wordline.report"},
    {STUDIES},
)
"""Packages from the lowest layer to the highest. Packages of the same layer do not import each
other."""
PART_OF = {
    "wordline.config": "wordline._api",
    "wordline.entry_point": "wordline.cli",
    "wordline.__main__": "wordline.cli",
}
"""Modules that belong to another package than their path suggests."""
RANKS = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}
ANNOTATIONS = ("annotation", "returns")
EXTENSION = "wordline._wordline"


@dataclass(frozen=True)
class Source:
    """A module: its path, and whether it is a package."""

    path: Path
    is_package: bool


@dataclass(frozen=True)
class Import:
    """An imported module, and the line of the import."""

    module: str
    line: int


@cache
def modules() -> Mapping[str, Source]:
    """Returns all modules by name."""
    found: dict[str, Source] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        is_package = path.name == "__init__.py"
        found[name.removesuffix(".__init__")] = Source(path, is_package)
    return found


@cache
def imports(name: str) -> frozenset[Import]:
    """Returns the modules that a module imports, at import time or later. Importing a module
    imports its package."""
    tree = ast.parse(modules()[name].path.read_text(encoding="utf-8"))
    found: set[Import] = set()
    has_text_annotations = "annotations" in {
        one.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for one in node.names
    }
    for node in evaluated(tree, left_out=ANNOTATIONS if has_text_annotations else ()):
        for module in named(node):
            parents = module.split(".")
            for end in range(1, len(parents) + 1):
                parent = ".".join(parents[:end])
                if parent != name and not name.startswith(f"{parent}."):
                    found.add(Import(parent, getattr(node, "lineno", 0)))
    return frozenset(found)


def evaluated(node: ast.AST, left_out: Collection[str]) -> Iterator[ast.AST]:
    """Yields the nodes that are executed, without type-checking blocks and the given fields."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        is_negated = isinstance(node.test, ast.UnaryOp)
        for one in node.body if is_negated else node.orelse:
            yield from evaluated(one, left_out)
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in left_out:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield from evaluated(one, left_out)


def named(node: ast.AST) -> Iterator[str]:
    """Yields the modules of these packages that a node names. A public name stands for its
    module."""
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names if is_ours(one.name))
    elif isinstance(node, ast.ImportFrom) and node.module and is_ours(node.module):
        assert node.level == 0, "imports are absolute"
        for one in node.names:
            inner = f"{node.module}.{one.name}"
            yield inner if inner in modules() else public(node.module, one.name)
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "wordline":
        inner = f"wordline.{node.attr}"
        yield inner if inner in modules() else public("wordline", node.attr)


def is_ours(module: str) -> bool:
    return module.split(".")[0] in ("wordline", STUDIES) and module != EXTENSION


def public(module: str, name: str) -> str:
    if module != "wordline" or name not in wordline._MODULES:  # pyright: ignore[reportPrivateUsage]
        return module
    found = f"wordline.{wordline._MODULES[name]}"  # pyright: ignore[reportPrivateUsage]
    return "wordline" if found == EXTENSION else found


def package_of(module: str) -> str:
    first, *rest = module.split(".")
    package = ".".join([first, *rest[:1]]) if first == "wordline" else first
    return PART_OF.get(package, package)


def test_every_package_has_a_layer() -> None:
    assert {package_of(module) for module in modules()} <= RANKS.keys()


def test_packages_import_only_lower_layers() -> None:
    upward = [
        f"{name}:{one.line} imports {one.module}"
        for name in modules()
        for one in sorted(imports(name), key=lambda one: (one.line, one.module))
        if package_of(name) != package_of(one.module)
        if RANKS[package_of(one.module)] >= RANKS[package_of(name)]
    ]
    assert not upward, "\n".join(upward)


def test_modules_have_no_import_cycles() -> None:
    graph = {name: {one.module for one in imports(name)} for name in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        raise AssertionError(" imports ".join(reversed(circle.args[1]))) from None


def test_studies_are_named_only_where_the_command_is_looked_up() -> None:
    named = [
        name
        for name, source in modules().items()
        if package_of(name) != STUDIES and STUDIES in source.path.read_text(encoding="utf-8")
    ]
    assert named == ["wordline.cli.app"]
