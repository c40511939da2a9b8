"""Assertions about the findings for broken implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pressroom.testing.contracts import Finding, Promise


def assert_broken(promise: Promise[Any], findings: Sequence[Finding], *, contract: str) -> None:
    """Check that exactly one finding is for the promise, and that it states the observation and the fix."""
    [finding] = [finding for finding in findings if finding.promise == promise.text]
    assert finding.contract == contract
    assert finding.where
    assert finding.seen
    assert "Warning" not in finding.seen
    assert finding.fix == promise.fix
    assert str(finding) == f"{finding.where}: {promise.text}; got {finding.seen} — {promise.fix}"
