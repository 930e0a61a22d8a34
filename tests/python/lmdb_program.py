"""Program that uses an LMDB database until its disk fails, for tests of power cuts: prints a digest
of all entries, reads the number of its first transaction, and prints the number of each transaction
that it has committed. A failing disk ends it with an exception or SIGBUS."""

import hashlib
import random
import sys
from collections.abc import Iterable

import lmdb

KEYS = 60


def changes(number: int) -> dict[bytes, bytes]:
    """Returns the entries that transaction `number` writes."""
    draws = random.Random(number)
    return {
        b"%d" % draws.randrange(KEYS): draws.randbytes(draws.randrange(1, 3000))
        for _ in range(draws.randrange(1, 5))
    }


def digest(entries: Iterable[tuple[bytes, bytes]]) -> str:
    """Returns the digest of entries in the order of their keys."""
    found = hashlib.sha256()
    for key, value in entries:
        found.update(b"%d %d " % (len(key), len(value)) + key + value)
    return found.hexdigest()


def opened(path: str, size: int) -> lmdb.Environment:
    """Opens the database in the file `path`."""
    return lmdb.open(path, map_size=size, subdir=False, lock=False)


def main(path: str, size: int) -> None:
    """Uses the database until the disk fails."""
    database = opened(path, size)
    with database.begin() as transaction:
        print(digest(transaction.cursor()), flush=True)
    number = int(sys.stdin.readline())
    while True:
        with database.begin(write=True) as transaction:
            for key, value in changes(number).items():
                transaction.put(key, value)
        print(number, flush=True)
        number += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
