"""Checks of a live device with libnbd. `python3 libnbd_checks.py CHECK URI` runs one of CHECKS; the
interpreter needs the module `nbd`, which Debian has in the package python3-libnbd."""

import errno
import random
import sys
from typing import Any

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def opened(uri: str, structured: bool = True) -> Any:
    """Connects. With structured replies, also negotiates block status."""
    import nbd

    client = nbd.NBD()
    client.set_request_structured_replies(structured)
    client.set_strict_mode(0)  # Send invalid requests as well.
    if structured:
        client.add_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
    client.connect_uri(uri)
    assert client.get_structured_replies_negotiated() is structured
    assert client.can_df() is structured
    return client


def fails(expected: int, call: Any, *args: Any) -> None:
    """Makes a call, which must fail with this error number."""
    import nbd

    found = None
    try:
        call(*args)
    except nbd.Error as error:
        found = error.errnum
    assert found == expected


def extents(client: Any, offset: int, size: int, flags: int = 0) -> list[tuple[int, int]]:
    """Returns length and status of each extent."""
    found: list[tuple[int, int]] = []

    def take(context: str, start: int, entries: list[int], _: Any) -> int:
        assert (context, start) == ("base:allocation", offset)
        found.extend(zip(entries[::2], entries[1::2], strict=True))
        return 0

    client.block_status(size, offset, take, flags)
    return found


def data_with_structured_replies(uri: str) -> None:
    data(opened(uri))


def data_with_simple_replies(uri: str) -> None:
    data(opened(uri, structured=False))


def data(client: Any) -> None:
    import nbd

    content = random.Random(1).randbytes(64 * KIB)
    client.pwrite(content, MIB)
    client.pwrite(content[:512], 3 * MIB, nbd.CMD_FLAG_FUA)
    assert client.pread(64 * KIB, MIB) == content
    client.zero(4 * KIB, MIB, nbd.CMD_FLAG_FUA)
    client.zero(4 * KIB, MIB + 4 * KIB, nbd.CMD_FLAG_NO_HOLE)
    client.trim(8 * KIB, MIB + 16 * KIB, nbd.CMD_FLAG_FUA)
    client.flush()
    expected = bytearray(content)
    for start in (0, 16 * KIB):
        expected[start : start + 8 * KIB] = bytes(8 * KIB)
    assert client.pread(64 * KIB, MIB) == expected
    assert client.pread(512, 3 * MIB) == content[:512]
    client.shutdown()


def block_status(uri: str) -> None:
    import nbd

    client = opened(uri)
    assert client.can_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
    data, hole = 0, nbd.STATE_HOLE | nbd.STATE_ZERO
    client.pwrite(bytes(8 * KIB), MIB)
    client.pwrite(bytes(4 * KIB), 3 * MIB)
    whole = [(MIB, hole), (8 * KIB, data), (2 * MIB - 8 * KIB, hole), (4 * KIB, data)]
    assert extents(client, 0, 3 * MIB + 4 * KIB) == whole
    assert extents(client, 0, GIB, nbd.CMD_FLAG_REQ_ONE) == whole[:1]
    assert extents(client, MIB + 512, 512) == [(512, data)]
    client.trim(8 * KIB, MIB)
    assert extents(client, 0, 4 * MIB)[0] == (3 * MIB, hole)


def many_extents(uri: str) -> None:
    """A reply has a limited number of extents, and begins at the offset of the request."""
    client = opened(uri)
    pages = 8_200
    cookies = [client.aio_pwrite(buffer(512), page * 8 * KIB) for page in range(pages)]
    wait(client, cookies)
    found = extents(client, 0, GIB)
    assert len(found) == 16_384
    assert all(size == 4 * KIB for size, _ in found)


def buffer(size: int, content: bytes | None = None) -> Any:
    import nbd

    return nbd.Buffer.from_bytearray(bytearray(size if content is None else content))


def wait(client: Any, cookies: list[int]) -> None:
    """Waits until commands are complete. Raises the error of one that failed."""
    for cookie in cookies:
        while not client.aio_command_completed(cookie):
            client.poll(-1)


def async_with_structured_replies(uri: str) -> None:
    in_flight(opened(uri))


def async_with_simple_replies(uri: str) -> None:
    in_flight(opened(uri, structured=False))


def in_flight(client: Any) -> None:
    """Keeps 64 commands in flight."""
    draw = random.Random(2)
    blocks = {number: draw.randbytes(4 * KIB) for number in range(512)}
    flying: list[int] = []
    for number, content in blocks.items():
        flying.append(client.aio_pwrite(buffer(0, content), number * 4 * KIB))
        if len(flying) == 64:
            wait(client, flying[:32])
            del flying[:32]
    wait(client, flying)
    reads = []
    for number in draw.sample(sorted(blocks), 512):
        target = buffer(4 * KIB)
        reads.append((number, target, client.aio_pread(target, number * 4 * KIB)))
        if len(reads) >= 64:
            wait(client, [reads[-64][2]])
    wait(client, [cookie for _, _, cookie in reads[-63:]])
    for number, target, _ in reads:
        assert target.to_bytearray() == blocks[number]


def invalid_commands(uri: str) -> None:
    import nbd

    for structured in (True, False):
        client = opened(uri, structured)
        fails(errno.EINVAL, client.pread, 512, GIB)
        fails(errno.EINVAL, client.pread, 0, 0)
        fails(errno.EINVAL, client.pread, 512, 0, 1 << 9)
        fails(errno.ENOSPC, client.pwrite, bytes(512), GIB)
        fails(errno.ENOSPC, client.zero, 1024, GIB - 512)
        fails(errno.EINVAL, client.trim, 1024, GIB - 512)
        fails(errno.EINVAL, client.cache, 512, 0)
        assert client.pread(512, 0) == bytes(512)
        assert client.pread(512, 0, nbd.CMD_FLAG_DF if structured else 0) == bytes(512)


def contexts(uri: str) -> None:
    """Lists the contexts, and connects without one."""
    import nbd

    client = nbd.NBD()
    client.set_opt_mode(True)
    client.connect_uri(uri)
    names: list[str] = []
    client.opt_list_meta_context(lambda name: names.append(name) or 0)
    assert names == ["base:allocation"]
    client.opt_info()
    assert client.get_size() == GIB
    client.opt_go()
    assert not client.can_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
    client.set_strict_mode(0)
    fails(errno.EINVAL, client.block_status, 512, 0, lambda *_: 0)
    assert client.pread(512, 0) == bytes(512)


CHECKS = {
    check.__name__: check
    for check in (
        data_with_structured_replies,
        data_with_simple_replies,
        block_status,
        many_extents,
        async_with_structured_replies,
        async_with_simple_replies,
        invalid_commands,
        contexts,
    )
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](sys.argv[2])
