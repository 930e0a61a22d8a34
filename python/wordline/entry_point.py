"""Where the `wordline` command starts. Ctrl-C while the rest is imported ends the process as it
ends any other command, without a word: nothing has been done."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without the enumerations, which take long to make

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """The `wordline` command; returns its exit code."""
    from wordline._internal import limits

    reason = limits.short_of_files()
    if reason is None:
        try:
            from wordline.cli import main as command
        except (ImportError, MemoryError, OSError) as fault:
            if limits.address_space() is None:
                raise
            reason = f"{fault or 'memory ran out'}; raise the limit of address space (ulimit -v)"
        else:
            limits.guard_tables()
            return command()
    print(f"error: {reason}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
