"""Measuring coverage at little cost: to be imported before whatever is measured.

On Python 3.11 slipcover rewrites bytecode: a probe at each line, which it takes out again once a line was passed some
dozens of times. Taking probes out walks every module: as often as that, it would cost a fifth of a run. `probes.py`
does it in another way.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

from support import marked_code

_NEVER: Final = 1 << 30
_IMPORTER: Final = "slipcover.importer"


def instance() -> Any:
    """Return what measures in this process, or `None`."""
    return getattr(sys.modules.get("slipcover.pytest_plugin"), "_slipcover_instance", None)


_measured = instance()
if _measured is not None:
    _measured.d_miss_threshold = _NEVER
    marked_code.use(sys.modules[_IMPORTER].SlipcoverLoader)
if "--numprocesses" in sys.argv and "PYTEST_XDIST_WORKER" not in os.environ:
    # This process hands tests out to others, which measure. It need not rewrite the server, nor compile in the end what
    # it has not imported: all of the sources, in ten seconds.
    for finder in [one for one in sys.meta_path if type(one).__module__ == _IMPORTER]:
        sys.meta_path.remove(finder)
        finder.sci.source = None  # type: ignore[attr-defined]  # slipcover's
