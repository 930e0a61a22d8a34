"""`python -m wordline` is the `wordline` command."""

import sys

from wordline.start import main

sys.exit(main())
