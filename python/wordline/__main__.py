"""`python -m wordline` is the `wordline` command."""

import sys

from wordline.command import main

sys.exit(main())
