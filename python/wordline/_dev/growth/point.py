"""Process of a point: `python -m wordline._dev.growth.point SETTINGS` simulates the device and
prints the summary. SETTINGS is a JSON object of configuration keys, which include the load."""

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
