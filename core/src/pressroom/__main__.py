"""`python -m pressroom` is the `pressroom` command."""

import sys

from pressroom.cli import main

if __name__ == "__main__":
    sys.exit(main())
