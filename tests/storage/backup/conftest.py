"""Servers as an operator has them: a data folder, a database, and commands that use both."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pressroom.config import Settings
from pressroom.testing.running import settings_for_test
from support.commands import Done, run_command
from support.databases import KINDS, database_config
from support.migrations import migrate
from support.needs import program
from support.server import command_environment

CONTENT = "[plugins.content]\n"


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a server's data, which need not exist yet."""

    folder: Path
    kind: str
    storage: dict[str, Any]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def settings(self) -> Settings:
        return settings_for_test({"plugins": {"content": {}}, "storage": self.storage}, self.data)

    def migrate(self) -> None:
        """Create the tables. Only PostgreSQL needs this before a server starts."""
        asyncio.run(migrate(self.settings()))

    def run(self, *arguments: str) -> Done:
        (self.folder / "pressroom.toml").write_text(CONTENT)
        variables = {"PRESSROOM_STORAGE__DATABASE": self.storage["database"]} if "database" in self.storage else {}
        return run_command(arguments, cwd=self.folder, env=command_environment(self.folder, **variables))

    def json(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.returncode == 0, result
        return json.loads(result.stdout)

    def refusal(self, *arguments: str) -> str:
        """Run a command that must fail, and return its error message and hint."""
        result = self.run(*arguments, "--json")
        assert result.returncode == 1, result
        error = json.loads(result.stdout)["error"]
        return f"{error['message']} {error['hint']}"

    def contents(self) -> dict[str, bytes]:
        """Return the content of every file in the data folder, by relative path."""
        files = (path for path in self.data.rglob("*") if path.is_file() and not path.name.startswith(".restore"))
        return {str(path.relative_to(self.data)): path.read_bytes() for path in files}


MakePlace = Callable[..., Place]


@pytest.fixture
def make_place(tmp_path: Path) -> Iterator[MakePlace]:
    """Return a function that creates empty places with a kind of database."""
    with ExitStack() as stack:

        def make(kind: str) -> Place:
            folder = tmp_path / secrets.token_hex(4)
            folder.mkdir()
            if kind == "postgresql":
                program("pg_dump")
            return Place(folder, kind, stack.enter_context(database_config(kind, folder / "data")))

        yield make


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)
