"""A module of a plugin that takes long to import: until the file that an environment variable names is gone."""

import os
import time
from pathlib import Path

_FILE = Path(os.environ.get("SLOW_PLUGIN", "/nowhere"))
_IMPORTED_BY = os.getpid()

while _FILE.exists():
    time.sleep(0.01)


def loaded_by() -> str:
    """Return how this process got the module: forked with it, or by importing it itself."""
    return "import" if os.getpid() == _IMPORTED_BY else "fork"
