"""Summarise skipped tests: the missing packages, and one command to install all of them.

A pytest plugin. Other reasons for skipping are listed once each, with the number of tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

_PACKAGE: Final = re.compile(r"\(Debian package ([a-z0-9.+-]+)\)")


def summary_lines(reasons: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the summary for the reasons of skipped tests."""
    packages = sorted({match[1] for reason in reasons if (match := _PACKAGE.search(reason))})
    skipped = sum(bool(_PACKAGE.search(reason)) for reason in reasons)
    if packages:
        yield f"{skipped} tests were skipped for want of {', '.join(packages)}. This installs all of them:"
        yield f"  sudo apt-get install --no-install-recommends {' '.join(packages)}"
    for reason, count in Counter(reason for reason in reasons if not _PACKAGE.search(reason)).most_common():
        yield f"{count} {'test was' if count == 1 else 'tests were'} skipped: {reason}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in reports if isinstance(report.longrepr, tuple)]
    for line in summary_lines(reasons):
        terminalreporter.write_line(line)
