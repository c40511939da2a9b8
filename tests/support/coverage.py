"""Report line and branch coverage of the host and each plugin; fail if the total is below the floor.

Usage: `python tests/support/coverage.py FILE`, where the file is slipcover's JSON output.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

FLOOR: Final = 95.0
"""Percent. Code in separate processes is not counted: commands, servers that are killed, worker processes."""

NOT_MEASURED: Final = ("/migrations/versions/", "/cli/forking.py", "/cli/reload_servers.py", "/cli/reloading.py")
"""Files that never run under slipcover.

Alembic reads and runs migrations itself. The others are `pressroom serve --reload` and the process that forks its
servers, which tests start and signal as a terminal does.
"""


def distribution(file: str) -> str:
    """Return the folder of the distribution that a source file belongs to: `core` or `plugins/<id>`."""
    return file.partition("/src/")[0]


def shares(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Return for each distribution the number of reached lines and branches, and their total."""
    reached: dict[str, int] = defaultdict(int)
    all_: dict[str, int] = defaultdict(int)
    for file, file_report in report["files"].items():
        if any(part in file for part in NOT_MEASURED):
            continue
        name = distribution(file)
        hit = len(file_report["executed_lines"]) + len(file_report.get("executed_branches", ()))
        missed = len(file_report["missing_lines"]) + len(file_report.get("missing_branches", ()))
        reached[name] += hit
        all_[name] += hit + missed
    return {name: (reached[name], all_[name]) for name in sorted(all_)}


def main() -> int:
    """Print a table, and return 1 if the overall coverage is below the floor."""
    by_distribution = shares(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    reached, all_ = (sum(numbers) for numbers in zip(*by_distribution.values(), strict=True))
    lines = [f"{name:32}{100 * hit / total:6.1f} %" for name, (hit, total) in by_distribution.items() if total]
    share = 100 * reached / all_
    lines.append(f"{'Coverage, lines and branches':32}{share:6.2f} % (at least {FLOOR} %)")
    sys.stdout.write("\n".join(lines) + "\n")
    return int(share < FLOOR)


if __name__ == "__main__":
    sys.exit(main())
