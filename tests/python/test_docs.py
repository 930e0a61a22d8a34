"""Structure and links of the documentation."""

import re
from pathlib import Path

import pytest

from wordline._api.trace_input import BUNDLED
from wordline_studies import STUDIES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Pages of these folders are linked from an index.
INDEXED = ("spec", "decisions")
PAGES = {
    str(page.relative_to(DOCS))
    for page in DOCS.rglob("*.md")
    if page.name != "index.md" and not set(INDEXED) & set(page.parts)
} | {f"{folder}/index.md" for folder in INDEXED}


@pytest.mark.parametrize("page", ["docs/index.md", "mkdocs.yml"])
def test_every_page_is_listed_in_the_index_and_the_navigation(page: str) -> None:
    text = (ROOT / page).read_text()
    listed = set(re.findall(r"[\w/-]+\.md", text))
    assert PAGES - listed == set()
    assert {name for name in listed if not (DOCS / name).exists()} == set()


@pytest.mark.parametrize("page", ["docs/decisions/index.md", "mkdocs.yml"])
def test_every_decision_is_listed_in_the_index_and_the_navigation(page: str) -> None:
    text = (ROOT / page).read_text()
    records = {one.name for one in (DOCS / "decisions").glob("*.md")} - {"index.md"}
    assert records - {Path(name).name for name in re.findall(r"[\w/-]+\.md", text)} == set()


def test_the_first_commands_of_the_readme_need_no_other_trace() -> None:
    (first,) = re.findall(
        r"## First steps\n(.*?)\n## ", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert set(re.findall(r"[\w-]+\.csv[.\w]*", first)) == {BUNDLED}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_every_link_has_a_target(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/study.md"])
def test_every_study_is_named_in_the_readme_and_the_how_to_page(page: str) -> None:
    named = set(re.findall(r"`(?:wordline study )?([\w-]+)`", (ROOT / page).read_text()))
    assert set(STUDIES) - named == set()


def test_the_front_page_does_not_count_list_entries() -> None:
    number = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a|two) dozens?)"
    listed = (
        r"(?:mapping famil|(?:garbage collection )?schedule|replacement polic|preset|stud(?:y|ies))"
    )
    text = (ROOT / "README.md").read_text()
    assert re.findall(rf"\b{number} \[?{listed}\w*", text, re.IGNORECASE) == []
