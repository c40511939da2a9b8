"""A plugin module whose import blocks until the file named by an environment variable is deleted."""

import os
import time
from pathlib import Path

_FILE = Path(os.environ.get("SLOW_PLUGIN", "/nowhere"))
_IMPORTED_BY = os.getpid()

while _FILE.exists():
    time.sleep(0.01)


def loaded_by() -> str:
    """Return how this process got the module: `fork` if inherited from its parent, otherwise `import`."""
    return "import" if os.getpid() == _IMPORTED_BY else "fork"
