"""Assertions about the findings for broken implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pressroom.testing.contracts import Finding, Promise


def assert_broken(promise: Promise[Any], findings: Sequence[Finding], *, contract: str) -> None:
    """Check that exactly one finding is for the promise, and that it states the observation and the fix."""
    [found] = [one for one in findings if one.promise == promise.text]
    assert found.contract == contract
    assert found.where
    assert found.seen
    assert "Warning" not in found.seen
    assert found.fix == promise.fix
    assert str(found) == f"{found.where}: {promise.text}; got {found.seen} — {promise.fix}"
