"""Measure coverage at a low cost. Import this before the measured code.

On Python 3.11 slipcover rewrites bytecode: it inserts a probe at each line, and removes it after the line has run some
dozens of times. Each removal walks every module, which would cost a fifth of a run. `probes.py` uses a different
method.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

from support import marked_code

_NEVER: Final = 1 << 30
_IMPORTER: Final = "slipcover.importer"


def instance() -> Any:
    """Return the slipcover instance of this process, or `None`."""
    return getattr(sys.modules.get("slipcover.pytest_plugin"), "_slipcover_instance", None)


_measured = instance()
if _measured is not None:
    _measured.d_miss_threshold = _NEVER
    marked_code.use(sys.modules[_IMPORTER].SlipcoverLoader)
if "--numprocesses" in sys.argv and "PYTEST_XDIST_WORKER" not in os.environ:
    # This process only distributes tests to workers, which measure. It need not instrument the server, nor compile
    # files that were not imported at the end: all of the sources, which takes ten seconds.
    for finder in [finder for finder in sys.meta_path if type(finder).__module__ == _IMPORTER]:
        sys.meta_path.remove(finder)
        finder.sci.source = None  # type: ignore[attr-defined]  # slipcover's
