"""Replacement policies written in Python, to try an idea before it is written in Rust.

    class LRU:
        def __init__(self, capacity: int) -> None:
            self.pages: OrderedDict[int, None] = OrderedDict()

        def hit(self, page: int, write: bool) -> None:
            self.pages.move_to_end(page)

        def admit(self, page: int, write: bool) -> None:
            self.pages[page] = None

        def evict(self, view: wordline.View) -> int:
            return self.pages.popitem(last=False)[0]

        def remove(self, page: int) -> None:
            del self.pages[page]

    wordline.cache("disk.csv.gz", ["lru", LRU], "1%")
    wordline.run("d4", "disk.csv.gz", overrides={"buffer.capacity_kib": 1024}, buffer=LRU)

Who is in the cache is kept by the simulator, which counts; the policy keeps its own order and names
who leaves.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from wordline._internal.arguments import shown
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline._caching.cache import CacheResult


class View(Protocol):
    """What a policy may ask of a page in the cache while its `evict` is called, and only then.

    Raises KeyError for a page that is not in the cache, RuntimeError at any other time.
    """

    def is_dirty(self, page: int, /) -> bool:
        """Whether the page is newer than what lies below the cache."""
        ...

    def load(self, page: int, /) -> float:
        """How long the chip that the page would be written to has work for, in microseconds.
        Without a device 0."""
        ...

    def is_collecting(self, page: int, /) -> bool:
        """Whether that chip is collecting garbage. Without a device False."""
        ...


class Replacement(Protocol):
    """A policy. Pages are whole numbers: logical pages of a device, or the pages of a trace.

    A fourth method `remove(page)` is needed if pages are trimmed: the page is gone, and evict must
    not name it any more.
    """

    def hit(self, page: int, write: bool, /) -> None:
        """A request for a page in the cache."""
        ...

    def admit(self, page: int, write: bool, /) -> None:
        """A request for a page that was not in the cache, and is now."""
        ...

    def evict(self, view: View, /) -> int:
        """The cache is full: the page that leaves. It is not in the cache any more afterwards."""
        ...


PolicyClass: TypeAlias = Callable[[int], Replacement]
"""Makes a policy for an empty cache of so many pages: a class, or any function."""


class PolicyError(WordlineError):
    """A policy written in Python went wrong; the message holds its traceback. `result` holds the
    runs so far. The last of them is the policy's own, up to the request that went wrong."""

    def __init__(self, message: str, result: "CacheResult") -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.result)


def name_of(policy: PolicyClass) -> str:
    """What results call a policy. Raises TypeError for what cannot make one."""
    if not callable(policy):
        raise TypeError(
            f"a policy must be a class, or a function of a number of pages, not {shown(policy)}"
        )
    if isinstance(policy, partial):
        return name_of(policy.func)
    return getattr(policy, "__name__", type(policy).__name__)
