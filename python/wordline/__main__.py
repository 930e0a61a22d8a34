"""`python -m wordline` is the `wordline` command."""

import sys

from wordline.cli import main

sys.exit(main())
