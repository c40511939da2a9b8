"""Configuration problems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pressroom.config.origins import DEFAULT, Origin
from pressroom.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One problem in the configuration.

    `key` is the dotted key, or empty if the problem has none. `problem` is a phrase that follows it, such as
    `must be at most 65535 (got 70000)`. `hint` is a sentence about how to fix it. Neither contains secrets.
    """

    key: str
    problem: str
    origin: Origin = DEFAULT
    hint: str = ""

    def __str__(self) -> str:
        place = "" if self.origin.kind == "default" else str(self.origin)
        return ": ".join(part for part in (place, self.key, self.problem) if part)

    def as_data(self) -> dict[str, Any]:
        """Return the problem as a JSON object: `key`, `problem`, `origin` and `hint`."""
        return {"key": self.key, "problem": self.problem, "origin": self.origin.as_data(), "hint": self.hint}


class InvalidConfig(ConfigError):
    """The configuration has at least one problem; `problems` contains all of them, in the order of their origins."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(sorted(problems, key=_place))
        if len(self.problems) == 1:
            super().__init__(str(self.problems[0]), hint=self.problems[0].hint)
        else:
            lines = "".join(f"\n- {problem}" for problem in self.problems)
            super().__init__(f"the configuration has {len(self.problems)} problems:{lines}")


def _place(problem: ConfigProblem) -> tuple[int, int, str, str]:
    kinds = ("file", "environment", "command line", "default")
    return kinds.index(problem.origin.kind), problem.origin.line, problem.origin.name, problem.key
