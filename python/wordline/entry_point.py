"""Entry point of the `wordline` command. While the other modules are imported, Ctrl-C ends the
process silently, because there is no work to report yet."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # `signal` creates enumerations, which takes long.

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Runs the `wordline` command and returns its exit code."""
    from wordline._internal import limits

    reason = limits.short_of_files()
    if reason is None:
        try:
            from wordline.cli import main as command
        except (ImportError, MemoryError, OSError) as fault:
            if limits.address_space() is None:
                raise
            reason = f"{fault or 'memory ran out'}; raise the limit on address space (ulimit -v)"
        else:
            limits.guard_tables()
            return command()
    print(f"error: {reason}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
