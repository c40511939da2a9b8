"""How much `make test` tries, and how much more `make soak` does.

A plugin of pytest. `make test` tries the same examples on every machine; `make soak` draws others each time. An example
that fails there belongs into the test, as `@example`.
"""

from __future__ import annotations

import os
from typing import Final

from hypothesis import settings

SOAK: Final = os.environ.get("PRESSROOM_TEST_SOAK") == "1"
"""Whether this is `make soak`."""

_MORE: Final = 50
"""How many times as many examples `make soak` tries."""


def examples(count: int) -> int:
    """Return the number of examples of a property test: `count`, and many more in a soak."""
    return count * _MORE if SOAK else count


def rounds(name: str, count: int, soak: int) -> int:
    """Return how often a test does something: `count`, `soak` in a soak, or what the environment variable says."""
    return int(os.environ.get(name, soak if SOAK else count))


# How long one example takes says nothing on the shared machines that run the tests.
settings.register_profile("test", deadline=None, derandomize=True, max_examples=examples(100))
settings.register_profile("soak", deadline=None, max_examples=examples(100), print_blob=True)
settings.load_profile("soak" if SOAK else "test")
