"""Replacement policies written in Python, to try an idea before implementing it in Rust.

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

The simulator tracks the pages in the cache and counts hits. The policy keeps its own order and
selects the page to evict.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from wordline._internal.arguments import shown
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline._caching.cache import CacheResult


class View(Protocol):
    """State of cached pages that a policy may query during a call of its `evict`.

    Raises KeyError for a page that is not in the cache, RuntimeError outside `evict`.
    """

    def is_dirty(self, page: int, /) -> bool:
        """Returns True if the page is newer than its copy below the cache."""
        ...

    def load(self, page: int, /) -> float:
        """Returns the outstanding work of the die to which the page would be written, in
        microseconds; 0 without a device."""
        ...

    def is_collecting(self, page: int, /) -> bool:
        """Returns True if garbage collection runs on that die; False without a device."""
        ...


class Replacement(Protocol):
    """A replacement policy. Pages are integers: logical pages of a device, or pages of a trace.

    A fourth method `remove(page)` is needed if pages are trimmed. It is called when the page has
    left the cache; `evict` must not return that page afterwards.
    """

    def hit(self, page: int, write: bool, /) -> None:
        """Called when a request hits a page in the cache."""
        ...

    def admit(self, page: int, write: bool, /) -> None:
        """Called after a miss, when the page has been inserted into the cache."""
        ...

    def evict(self, view: View, /) -> int:
        """Called when the cache is full. Returns the page to evict, which then leaves the cache."""
        ...


PolicyClass: TypeAlias = Callable[[int], Replacement]
"""Creates a policy for an empty cache of the given number of pages: a class, or any function."""


class PolicyError(WordlineError):
    """Error in a policy written in Python. The message contains its traceback. `result` holds the
    completed runs and, as the last one, the run of the policy up to the request that failed."""

    def __init__(self, message: str, result: "CacheResult") -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.result)


def name_of(policy: PolicyClass) -> str:
    """Returns the name of a policy in results. Raises TypeError if the argument cannot create a
    policy."""
    if not callable(policy):
        raise TypeError(
            f"a policy must be a class, or a function of a number of pages, not {shown(policy)}"
        )
    if isinstance(policy, partial):
        return name_of(policy.func)
    return getattr(policy, "__name__", type(policy).__name__)
