"""`python -m wordline` runs the `wordline` command."""

import sys

from wordline.entry_point import main

sys.exit(main())
