"""The threat model refers only to existing tests."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MODEL = TESTS.parent / "docs" / "explanation" / "security.md"


def test_every_row_of_the_threat_model_has_tests_that_exist() -> None:
    text = MODEL.read_text().partition("## Threat model")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.endswith("| Tests |")]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    assert len(rows) > 30
    for threat, bound, tests in rows:
        paths = re.findall(r"`([^`]+)`", tests)
        missing = [path for path in paths if not (TESTS / path).exists()]
        assert not missing, (threat, missing)
        assert paths or "cannot be prevented" in bound, f"no test is named: {threat}"
