"""Parses fio job files: sections, with the options that each defines or inherits."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Never

from wordline._importers.fio.options import LOAD, SAME, WITHOUT_EFFECT
from wordline._internal import small_file
from wordline._wordline import WordlineError


@dataclass(frozen=True)
class Option:
    """An option of a job: its text and line number."""

    text: str
    line: int


@dataclass
class Job:
    """A section of a job file, with the options that it defines or inherits."""

    file: str
    name: str
    line: int
    options: dict[str, Option] = field(default_factory=dict[str, Option])

    def fault(self, name: str, reason: str, remedy: str) -> Never:
        """Raises WordlineError for an option of the job."""
        option = self.options.get(name)
        line = option.line if option else self.line
        said = f"{name}={option.text}" if option else f"[{self.name}]"
        raise WordlineError(f"{self.file}:{line}: {said}: {reason}; {remedy}")

    def text(self, name: str, default: str) -> str:
        """Returns the text of an option, or the default."""
        option = self.options.get(name)
        return option.text if option else default


def jobs(file: str, section: str | None) -> list[Job]:
    """Returns the jobs of a file that form one load, or only the named job. Raises
    WordlineError."""
    return _chosen(file, list(_sections(file, _text(file))), section)


def _text(name: str) -> str:
    try:
        return small_file.text(name)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise WordlineError(f"{name}: cannot be read: {reason}; name a job file of fio") from error


def _sections(file: str, text: str) -> Iterator[Job]:
    shared: dict[str, Option] = {}
    job: Job | None = None
    inside = False
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.strip()
        if not line or line[0] in ";#":
            continue
        if header := re.fullmatch(r"\[(.+)\]", line):
            if job is not None:
                yield job
            inside, job = True, None
            if header[1].lower() != "global":
                job = Job(file, header[1], number, dict(shared))
            continue
        where = f"{file}:{number}"
        if line.startswith("include "):
            raise WordlineError(
                f"{where}: include: included files are not read; put the lines of that file here"
            )
        if not inside:
            raise WordlineError(
                f"{where}: `{line[:40]}` precedes the first section; a job file starts with "
                "[global] or the name of a job in brackets"
            )
        key, equals, value = (part.strip() for part in line.partition("="))
        value = _environment(where, value) if equals else "1"
        key = SAME.get(key, key)
        if key not in LOAD and key not in WITHOUT_EFFECT:
            raise WordlineError(f"{where}: {key}: {_unknown(key)}")
        options = shared if job is None else job.options
        options[key] = Option(value, number)
    if job is not None:
        yield job


def _environment(where: str, value: str) -> str:
    def known(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise WordlineError(f"{where}: ${{{found[1]}}} is not an environment variable; set it")
        return os.environ[found[1]]

    return re.sub(r"\$\{(\w+)\}", known, value)


def _unknown(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key, sorted({*LOAD, *WITHOUT_EFFECT, *SAME}), n=1, cutoff=0.8)
    if near:
        return f"the option is unknown; did you mean {near[0]}? Otherwise remove the line"
    return "the option is not modelled; remove the line if the load does not depend on it"


def _chosen(file: str, jobs: list[Job], section: str | None) -> list[Job]:
    names = ", ".join(dict.fromkeys(job.name for job in jobs))
    if not jobs:
        raise WordlineError(f"{file}: the file has no job; add a section such as [randread]")
    if section is not None:
        jobs = [job for job in jobs if job.name == section]
        if not jobs:
            raise WordlineError(f"{file}: no job is called '{section}'; its jobs are {names}")
        return jobs
    for job in jobs[1:]:
        if "stonewall" in job.options:
            job.fault(
                "stonewall",
                "jobs that wait for others are not modelled",
                f"run them one by one: --fio-section with one of {names}",
            )
    return jobs
