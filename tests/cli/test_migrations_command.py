"""`pressroom migrations` detects differences between tables and migrations, and writes the missing migration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import run_command
from support.server import command_environment

PLUGIN = """from pressroom.sdk import Models, Plugin, hookimpl

PLUGIN = Plugin(id="drawer", api="1", title="Drawer", summary="Keeps things.")


@hookimpl
def pressroom_models() -> list[Models]:
    from drawer.tables import METADATA

    return [Models(METADATA, "drawer.migrations")]
"""
TABLES = """from pressroom.columns import NAMING, Timestamp
from sqlalchemy import Column, Integer, MetaData, String, Table

METADATA = MetaData(naming_convention=NAMING)
DRAWER = Table(
    "drawer_thing",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(80), nullable=False, index=True),
)
"""
MORE = TABLES.replace("String(80)", "String(200)").replace(
    "index=True),\n", 'index=True),\n    Column("kept_at", Timestamp, nullable=True),\n'
)


class Drawer:
    """A plugin with a table and no migrations yet, and the commands to run on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "plugins" / "drawer"
        (self.package / "migrations" / "versions").mkdir(parents=True)
        (self.package / "__init__.py").write_text(PLUGIN)
        (self.package / "migrations" / "__init__.py").touch()
        self.describe(TABLES)
        (folder / "pressroom.toml").write_text('builtin_plugins = false\nplugins_dir = "plugins"\n')

    def describe(self, tables: str) -> None:
        """Write the plugin's table definitions."""
        (self.package / "tables.py").write_text(tables)

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run `pressroom migrations`; return its exit code and its combined output."""
        environment = command_environment(self.folder)
        path = f"{self.folder / 'plugins'}:{environment['PYTHONPATH']}"
        result = run_command(["migrations", *arguments], cwd=self.folder, env={**environment, "PYTHONPATH": path})
        return result.returncode, result.stdout + result.stderr

    def revisions(self) -> list[Path]:
        """Return the migration files in order."""
        return sorted((self.package / "migrations" / "versions").glob("*.py"))


@pytest.fixture
def drawer(tmp_path: Path) -> Drawer:
    return Drawer(tmp_path)


def test_new_migrations_create_the_described_tables(drawer: Drawer) -> None:
    code, output = drawer.run("check", "drawer")
    assert code == 1
    assert "drawer: add_table drawer_thing" in output
    assert "pressroom migrations new drawer" in output

    code, output = drawer.run("new", "drawer", "make the  table of things")
    [first] = drawer.revisions()
    assert (code, first.name) == (0, "0001_make_the_table_of_things.py")
    assert str(first) in output
    source = first.read_text()
    assert source.startswith('"""Make the table of things."""\n')
    assert 'revision = "0001"\ndown_revision = None\n' in source
    assert "ix_drawer_thing_name" in source
    assert drawer.run("check", "drawer")[0] == 0

    drawer.describe(MORE)
    code, output = drawer.run("check", "--json")
    [host, differing] = json.loads(output)["plugins"]
    assert (code, host["plugin"], host["ok"]) == (1, "pressroom", True)
    assert len(differing["differences"]) == 2
    assert "add_column drawer_thing.kept_at" in differing["differences"]

    assert drawer.run("new", "drawer", "add kept_at")[0] == 0
    [_, second] = drawer.revisions()
    assert second.name == "0002_add_kept_at.py"
    source = second.read_text()
    assert 'revision = "0002"\ndown_revision = "0001"\n' in source
    assert "sa.BigInteger()" in source  # the column type in the database, since the class may change later
    assert "Timestamp" not in source
    assert drawer.run("check", "drawer")[0] == 0
    assert drawer.run("new", "drawer", "nothing") == (0, "The migrations of drawer already create its tables.\n")


def test_a_table_no_longer_described_is_reported(drawer: Drawer) -> None:
    drawer.run("new", "drawer", "make the table")
    drawer.describe("from sqlalchemy import MetaData\n\nMETADATA = MetaData()\n")

    code, output = drawer.run("check", "drawer")

    assert code == 1
    assert "drawer: remove_table drawer_thing" in output


def test_a_failing_migration_is_reported(drawer: Drawer) -> None:
    drawer.run("new", "drawer", "make the table")
    [first] = drawer.revisions()
    first.write_text(first.read_text().replace("def upgrade() -> None:", "def upgrade() -> None:\n    raise KeyError"))

    code, output = drawer.run("check", "--json")

    assert code == 1
    assert "KeyError" in json.loads(output)["plugins"][1]["error"]
    assert drawer.run("new", "drawer", "another")[0] == 1
    assert drawer.revisions() == [first]


def test_a_plugin_that_does_not_load_is_explained(drawer: Drawer) -> None:
    (drawer.package / "migrations" / "versions").rmdir()

    code, output = drawer.run("new", "drawer", "make the table")

    assert code == 1
    assert "has no folder versions" in output


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("check", "drawre"), "no enabled plugin drawre has tables; those that do: drawer"),
        (("new", "drawre", "x"), "no enabled plugin drawre has tables"),
        (("new", "pressroom", "x"), "no enabled plugin pressroom has tables"),
        (("new", "drawer", "\u2026"), "MESSAGE needs letters"),
    ],
)
def test_impossible_requests_are_reported(drawer: Drawer, arguments: tuple[str, ...], expected: str) -> None:
    code, output = drawer.run(*arguments)

    assert code != 0
    assert expected in output


def test_the_built_in_plugins_have_complete_migrations(tmp_path: Path) -> None:
    result = run_command(["migrations", "check", "--json"], cwd=tmp_path, env=command_environment(tmp_path))

    results = {row["plugin"]: (row["differences"], row["error"]) for row in json.loads(result.stdout)["plugins"]}
    assert results == dict.fromkeys(["pressroom", "content", "images", "search_performance", "seo"], ([], ""))
    assert result.returncode == 0
