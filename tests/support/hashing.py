"""Cheap password hashes in the tests' own process.

A pytest plugin. With the real parameters, each of thousands of hashes takes 64 MiB and a fifth of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from argon2.profiles import CHEAPEST
from pressroom.accounts import passwords

_NAME: Final = "RFC_9106_LOW_MEMORY"
_REAL: Final = getattr(passwords, _NAME)


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, _NAME, CHEAPEST)
        yield


@pytest.fixture
def real_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash with the real parameters in this test."""
    monkeypatch.setattr(passwords, _NAME, _REAL)
