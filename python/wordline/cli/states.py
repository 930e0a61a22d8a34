"""`wordline prepare` and `wordline resume`."""

from pathlib import Path

import click

from wordline._api import options, state
from wordline._render.units import size
from wordline.cli.command import command, device_argument
from wordline.cli.run import go_on
from wordline.cli.streams import shows_progress


@command(options.PREPARE)
@device_argument()
def prepare(
    device: str,
    overrides: list[tuple[str, str]],
    out: Path | None,
    seed: int,
    spare_areas: bool,
    progress: bool | None,
) -> None:
    """Precondition a device and save its state.

    Any number of runs can start from this state, with --from.

    The state depends on the flash array (except its timing), [ftl], [precondition] and the seed;
    runs may change everything else. Only the build of Wordline that wrote the file can read it.

    \b
    Examples:
      wordline prepare d4 --set precondition.overwrite_ratio=2 -o aged.wls
      wordline run d4 --set precondition.overwrite_ratio=2 --from aged.wls
          --trace disk.csv.gz
      wordline run --from aged.wls --trace disk.csv.gz --set host.queue_depth=8
    """
    name = Path(device).name.removesuffix(".toml")
    path = state.prepare(
        device,
        out or Path("out", f"{name}.wls"),
        overrides=overrides,
        seed=seed,
        spare_areas=spare_areas,
        progress=shows_progress(progress),
    )
    click.echo(f"wrote {path}, {size(path.stat().st_size)}")


@command(options.RESUME)
@click.argument("folder", metavar="DIR")
def resume(
    folder: str,
    checkpoint_every: str | None,
    progress: bool | None,
    no_report: bool,
    as_json: bool,
) -> int:
    """Resume an interrupted run.

    The results equal those of an uninterrupted run.

    The run must have been started with --checkpoint-every. Its results replace the content of DIR.
    The traces must still be at their paths. Only the build of Wordline that started the run can
    resume it.

    \b
    Examples:
      wordline run d4 --trace week.csv.gz --out out/week --checkpoint-every 60s
      wordline resume out/week
    """
    return go_on(folder, checkpoint_every, no_report, as_json, progress)
