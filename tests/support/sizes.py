"""The number of examples tried by `make test`, and by `make soak`, which tries many more.

A pytest plugin. `make test` tries the same examples on every machine; `make soak` draws new ones each time. Add an
example that fails there to the test, as `@example`.
"""

from __future__ import annotations

import os
from typing import Final

from hypothesis import settings

SOAK: Final = os.environ.get("PRESSROOM_TEST_SOAK") == "1"
"""Whether this is `make soak`."""

_MORE: Final = 50
"""Factor by which `make soak` tries more examples."""


def examples(count: int) -> int:
    """Return the number of examples of a property test: `count`, or many more in a soak."""
    return count * _MORE if SOAK else count


def rounds(name: str, count: int, soak: int) -> int:
    """Return a test's number of rounds: from the environment variable `name`, else `soak` in a soak, else `count`."""
    return int(os.environ.get(name, soak if SOAK else count))


# The duration of a single example is meaningless on the shared machines that run the tests.
settings.register_profile("test", deadline=None, derandomize=True, max_examples=examples(100))
settings.register_profile("soak", deadline=None, max_examples=examples(100), print_blob=True)
settings.load_profile("soak" if SOAK else "test")
