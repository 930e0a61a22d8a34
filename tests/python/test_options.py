"""Options of functions, as keywords and as objects."""

import ast
import inspect
import pickle
import re
import sys
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

import wordline
from wordline._internal.keywords import Options

TAKEN = [(wordline.run, wordline.RunOptions), (wordline.cache, wordline.CacheOptions)]
"""Functions, with the class that declares their options."""
KINDS = [kind for _, kind in TAKEN]


def for_checkers(kind: type[Options]) -> dict[str, str]:
    """Returns the names and types of the keywords that type checkers see."""
    tree = ast.parse(inspect.getsource(sys.modules[kind.__module__]))
    name = kind.__name__.replace("Options", "Keywords")
    (found,) = [
        node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name
    ]
    return {
        ast.unparse(line.target): ast.unparse(line.annotation)
        for line in found.body
        if isinstance(line, ast.AnnAssign)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_type_checkers_see_the_types_used_at_run_time(kind: type[Options]) -> None:
    assert for_checkers(kind) == kind.hints()
    assert get_type_hints(kind).keys() == kind.hints().keys()


@pytest.mark.parametrize(("function", "kind"), TAKEN)
def test_options_are_keywords_of_the_signature(
    function: Callable[..., object], kind: type[Options]
) -> None:
    parameters = inspect.signature(function).parameters
    for name, hint in kind.hints().items():
        assert parameters[name].default == getattr(kind, name)
        assert parameters[name].annotation == hint
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert list(parameters)[-len(kind.hints()) :] == list(kind.hints())
    assert "keywords" not in parameters


@pytest.mark.parametrize(("function", "kind"), TAKEN)
def test_help_explains_every_option_once(
    function: Callable[..., object], kind: type[Options]
) -> None:
    """A line that begins an explanation has four spaces, one or more names separated by commas, and
    two or more spaces."""
    explained: list[str] = []
    for text in (kind.__doc__ or "", function.__doc__ or ""):
        heads = re.findall(r"^    ([a-z_]+(?:, [a-z_]+)*)(?:  .*|,?)$", text, re.MULTILINE)
        explained = [name for head in heads for name in head.split(", ")]
        assert set(kind.hints()) <= set(explained)
        assert len(explained) == len(set(explained))
    assert set(explained) == set(inspect.signature(function).parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_options_have_their_defaults(kind: type[Options]) -> None:
    options = kind()
    assert {name: getattr(options, name) for name in kind.hints()} == {
        name: getattr(kind, name) for name in kind.hints()
    }


def test_options_compare_by_value() -> None:
    options = wordline.RunOptions(seed=3, verify=True)
    assert options == wordline.RunOptions(verify=True, seed=3, fit="error")
    assert hash(options) == hash(wordline.RunOptions(verify=True, seed=3, fit="error"))
    assert options != wordline.RunOptions(seed=3)
    assert wordline.RunOptions() != wordline.CacheOptions()
    assert repr(options) == "wordline.RunOptions(seed=3, verify=True)"
    assert pickle.loads(pickle.dumps(options)) == options


def test_options_are_immutable() -> None:
    options = wordline.CacheOptions(page_bytes=512)
    with pytest.raises(AttributeError, match="page_bytes cannot be set; use `replace`"):
        options.page_bytes = 4096  # pyright: ignore
    with pytest.raises(AttributeError, match="page_bytes cannot be deleted"):
        del options.page_bytes
    assert options.replace(jobs=2) == wordline.CacheOptions(page_bytes=512, jobs=2)
    assert options == wordline.CacheOptions(page_bytes=512)


UNKNOWN: list[tuple[Callable[..., object], str]] = [
    (wordline.RunOptions, "RunOptions has no option 'sede'; did you mean seed?"),
    (wordline.RunOptions().replace, "RunOptions has no option 'sede'; did you mean seed?"),
    (wordline.CacheOptions, "CacheOptions has no option 'sede'; see wordline.CacheOptions"),
    (lambda **given: wordline.run("d4", **given), "run() has no option 'sede'; did you mean seed?"),
    (
        lambda **given: wordline.cache("disk.csv", **given),
        "cache() has no option 'sede'; see wordline.CacheOptions",
    ),
]


@pytest.mark.parametrize(("function", "message"), UNKNOWN)
def test_an_unknown_option_is_rejected(function: Callable[..., object], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        function(sede=3)


@pytest.mark.parametrize("options", [{"seed": 3}, 3, wordline.CacheOptions()])
def test_other_objects_are_rejected_as_options(options: Any) -> None:
    with pytest.raises(TypeError, match=r"options must be a wordline\.RunOptions, not "):
        wordline.run("d4", options=options)


def test_options_and_keywords_are_equivalent(tiny: str, trace: str) -> None:
    settings = {"ftl.gc.victim": "fifo"}
    options = wordline.RunOptions(overrides=settings, seed=7, requests=False, max_requests=500)
    together = wordline.run(tiny, trace, options=options)
    apart = wordline.run(tiny, trace, overrides=settings, seed=7, requests=False, max_requests=500)
    assert together.summary["digest"] == apart.summary["digest"]
    assert together.summary["input"]["requests"] == 500
    assert together.config == apart.config
    with pytest.raises(wordline.WordlineError, match="requests were not recorded"):
        _ = together.requests


def test_keywords_override_options(tiny: str, trace: str) -> None:
    options = wordline.RunOptions(seed=7, max_requests=500)
    # 1 and None are the defaults, and are accepted explicitly.
    first = wordline.run(tiny, trace, options=options, seed=1, max_requests=None)
    assert first.summary["seed"] == 1
    assert first.summary["input"]["requests"] == 2000
    assert options == wordline.RunOptions(seed=7, max_requests=500)


def test_cache_options_and_keywords_are_equivalent(trace: str) -> None:
    options = wordline.CacheOptions(page_bytes=8192, max_requests=1000)
    together = wordline.cache(trace, "lru,arc", "10%", options=options)
    apart = wordline.cache(trace, "lru,arc", "10%", page_bytes=8192, max_requests=1000)
    assert together.summary == apart.summary
    other = wordline.cache(trace, "lru,arc", "10%", options=options, page_bytes=512)
    assert other.summary["input"]["page_bytes"] == 512
    assert other.summary["input"]["requests"] == 1000


def test_invalid_options_and_keywords_give_the_same_error(tiny: str, trace: str) -> None:
    with pytest.raises(TypeError, match="verify must be True or False, not 1"):
        wordline.run(tiny, trace, options=wordline.RunOptions(verify=1))  # pyright: ignore
    with pytest.raises(wordline.WordlineError, match="max_requests: 0 is not between 1 and"):
        wordline.cache(trace, options=wordline.CacheOptions(max_requests=0))
