"""`pressroom keys`, on an embedded database."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pressroom.accounts.records import AccessChoice
from pressroom.accounts.service import AccountServices
from pressroom.cli import main
from pressroom.errors import Rejected
from pressroom.sdk import Credentials, Identity
from pressroom.storage.database import SqlDatabase
from pressroom.testing.running import settings_for_test
from support.commands import run_command
from support.server import command_environment

EMAIL = "ada@example.com"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def with_ada(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data of a server that has one account; tests copy it, and leave it unchanged."""
    folder = tmp_path_factory.mktemp("ada")
    result = run_command(["users", "add", EMAIL], cwd=folder, env=command_environment(folder))
    assert result.returncode == 0, result.stderr
    return folder / "data"


@pytest.fixture
def run(with_ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and returns its exit code, stdout and stderr."""
    shutil.copytree(with_ada, tmp_path / "data")
    monkeypatch.setenv("PRESSROOM_STORAGE__PATH", str(tmp_path / "data"))

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(arguments)
        return code, *capsys.readouterr()

    return command


def authenticate(folder: Path, key: str) -> Identity | None:
    """Authenticate with a key against the database in a folder."""
    settings = settings_for_test({}, folder)

    async def ask() -> Identity | None:
        database = SqlDatabase(settings)
        await database.open()
        try:
            accounts = AccountServices(settings, database)
            return await accounts.api_keys.authenticate(Credentials(key, "203.0.113.7", {}))
        finally:
            await database.close()

    return asyncio.run(ask())


def keys(run: Run, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("keys", "list", EMAIL, *arguments, "--json")[1])["keys"]
    return rows


def test_only_the_key_is_on_standard_output(run: Run, tmp_path: Path) -> None:
    code, output, notes = run("keys", "create", EMAIL, "--name", "laptop")
    assert code == 0
    assert output.startswith("prk_key_")
    assert output.count("\n") == 1
    assert "not shown again" in notes
    assert output.strip() not in notes
    assert authenticate(tmp_path / "data", output.strip()) is not None


def test_a_key_of_a_disabled_account_comes_with_a_warning(run: Run) -> None:
    assert run("users", "disable", EMAIL)[0] == 0
    code, out, err = run("keys", "create", EMAIL, "--name", "laptop")
    assert (code, len(out.split())) == (0, 1)
    assert f"pressroom users enable {EMAIL}" in err


def test_json_output_contains_the_key_once(run: Run, tmp_path: Path) -> None:
    created = json.loads(run("keys", "create", EMAIL, "--name", "laptop", "--json")[1])
    assert (created["name"], created["email"], created["hint"]) == ("laptop", EMAIL, created["key"][-4:])
    assert authenticate(tmp_path / "data", created["key"]) is not None
    (listed,) = keys(run)
    assert listed == {name: value for name, value in created.items() if name not in ("key", "email")}


def test_a_long_list_is_paged(run: Run) -> None:
    for name in ("one", "two", "three"):
        run("keys", "create", EMAIL, "--name", name)
    document = json.loads(run("keys", "list", EMAIL, "--limit", "2", "--json")[1])
    assert ([row["name"] for row in document["keys"]], document["next"]) == (["three", "two"], 2)
    assert run("keys", "list", EMAIL, "--limit", "2")[2] == "There are more: --skip 2\n"
    document = json.loads(run("keys", "list", EMAIL, "--limit", "2", "--skip", "2", "--json")[1])
    assert ([row["name"] for row in document["keys"]], document["next"]) == (["one"], None)
    assert run("keys", "list", EMAIL, "--skip", "3")[1] == f"{EMAIL} has no more API keys.\n"


def test_the_human_readable_list(run: Run) -> None:
    assert run("keys", "list", EMAIL)[1] == f"{EMAIL} has no API key; create one with `pressroom keys create`.\n"
    key = run("keys", "create", EMAIL, "--name", "laptop")[1].strip()
    head, row = run("keys", "list", EMAIL)[1].splitlines()
    assert head.split() == ["Id", "Name", "Ends", "with", "Access", "State", "Last", "used"]
    assert row.split()[1:] == ["laptop", f"…{key[-4:]}", "full", "active", "never"]
    assert key not in row


def test_a_revoked_key_is_refused(run: Run, tmp_path: Path) -> None:
    created = json.loads(run("keys", "create", EMAIL, "--name", "laptop", "--json")[1])
    code, output, _ = run("keys", "revoke", created["id"])
    assert (code, output.startswith("The key 'laptop' is revoked")) == (0, True)
    with pytest.raises(Rejected, match="revoked"):
        authenticate(tmp_path / "data", created["key"])
    assert keys(run) == []
    assert [row["id"] for row in keys(run, "--revoked")] == [created["id"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", "eve@example.com", "--name", "x"), "there is no account with the e-mail address eve@example.com"),
        (("create", EMAIL, "--name", " "), "name: must not be empty"),
        (("list", "eve@example.com"), "there is no account"),
        (("revoke", "c_nothing"), "there is no key with the id c_nothing\n`pressroom keys list EMAIL` shows them"),
    ],
)
def test_impossible_requests_are_reported(run: Run, arguments: tuple[str, ...], words: str) -> None:
    code, output, notes = run("keys", *arguments)
    assert (code, output) == (1, "")
    assert words in notes


def test_a_key_has_the_access_and_toolsets_it_was_created_with(run: Run, tmp_path: Path) -> None:
    arguments = ("--access", "drafts", "--toolsets", "core, seo")
    created = json.loads(run("keys", "create", EMAIL, "--name", "laptop", *arguments, "--json")[1])
    assert (created["access"], created["toolsets"]) == ("drafts", ["core", "seo"])
    identity = authenticate(tmp_path / "data", created["key"])
    assert identity is not None
    assert AccessChoice(identity.access, identity.toolsets) == AccessChoice("drafts", frozenset({"core", "seo"}))
    (listed,) = keys(run)
    assert (listed["access"], listed["toolsets"]) == ("drafts", ["core", "seo"])


def test_a_key_may_do_everything_by_default(run: Run) -> None:
    created = json.loads(run("keys", "create", EMAIL, "--name", "laptop", "--json")[1])
    assert (created["access"], created["toolsets"]) == ("full", None)


@pytest.mark.parametrize("arguments", [("--access", "superuser"), ("--toolsets", "Core"), ("--toolsets", "all")])
def test_an_invalid_access_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    code, output, notes = run("keys", "create", EMAIL, "--name", "laptop", *arguments)
    assert code != 0
    assert output == ""
    assert arguments[1] in notes
    assert keys(run) == []


def test_a_toolset_that_no_tool_has_is_refused(run: Run) -> None:
    code, output, notes = run("keys", "create", EMAIL, "--name", "laptop", "--toolsets", "seo,corr")
    assert (code, output) == (1, "")
    assert "toolsets: there is no toolset 'corr'; did you mean core?" in notes
    assert keys(run) == []


def test_a_key_needs_a_name(run: Run) -> None:
    code, _, notes = run("keys", "create", EMAIL)
    assert code == 2
    assert "--name" in notes
