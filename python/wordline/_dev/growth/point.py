"""Process of a point: `python -m wordline._dev.growth.point SETTINGS` runs the device under the
load that SETTINGS, a JSON object of configuration keys, defines, and prints the summary."""

import json
import sys

import wordline
from wordline._dev.growth.sweeps import DEVICE


def main() -> None:
    """Runs the settings that the argument defines, and prints the summary."""
    result = wordline.run(DEVICE, overrides=json.loads(sys.argv[1]), requests=False)
    json.dump(result.summary, sys.stdout)


if __name__ == "__main__":
    main()
