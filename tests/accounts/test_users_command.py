"""`pressroom users`, run by operators and by programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pressroom.accounts.memberships import Invitations
from pressroom.accounts.users import Users
from pressroom.config import Settings
from support import databases
from support.commands import Done, run_command
from support.server import command_environment, serving

PASSWORD = "four quiet random words"


class Command:
    """Runs `pressroom users …` on one database, with `run`."""

    def __init__(self, folder: Path, storage: dict[str, object]) -> None:
        self._folder = folder
        self._storage = storage
        self.config = "[plans.pro]\n"
        if "database" in storage:
            self.config += f'[storage]\ndatabase = "{storage["database"]}"\n'
        self.write_config()

    def write_config(self) -> None:
        (self._folder / "pressroom.toml").write_text(self.config)

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Done:
        environment = command_environment(self._folder)
        return run_command(["users", *arguments], cwd=self._folder, env=environment, stdin=stdin)

    def json(self, *arguments: str, stdin: str | bytes = "") -> Any:
        result = self(*arguments, "--json", stdin=stdin)
        return json.loads(result.stdout)

    async def let_in(self, account: str, person: str) -> None:
        """Add a person as a reader to another person's account."""
        settings = databases.settings_with_database(self._storage, self._folder / "data")
        async with databases.migrated(settings) as database:
            users = Users(database, settings)
            owner, member = await users.by_email(account), await users.by_email(person)
            assert owner is not None
            assert member is not None
            invitations = Invitations(database, users)
            await invitations.accept((await invitations.create(owner.id, "reader"))[1], member)


async def _migrate(settings: Settings) -> None:
    async with databases.migrated(settings):
        pass


@pytest.fixture(params=databases.KINDS)
def users(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Command]:
    """Return the command for an embedded database that does not exist yet, and for a migrated PostgreSQL database."""
    with databases.database_config(request.param, tmp_path / "data", tables=True) as storage:
        if "database" in storage:
            asyncio.run(_migrate(databases.settings_with_database(storage, tmp_path / "data")))
        yield Command(tmp_path, storage)


@pytest.fixture(scope="module")
def with_ada(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Return the command for an embedded database with one account; tests must leave it unchanged."""
    command = Command(tmp_path_factory.mktemp("ada"), {})
    assert command("add", "ada@example.com").returncode == 0
    return command


@pytest.fixture
def embedded(tmp_path: Path) -> Command:
    return Command(tmp_path, {})


def test_an_operator_creates_an_account_and_changes_it(users: Command) -> None:
    added = users("add", "Ada@Example.com", "--name", "Ada", "--password-stdin", stdin=PASSWORD + "\n")
    assert (added.returncode, added.stdout) == (0, "ada@example.com has an account on the plan free.\n")
    assert users("set-plan", "ada@example.com", "pro").returncode == 0
    assert users("disable", "ada@example.com").stdout == "ada@example.com is disabled.\n"
    listed = users("list")
    assert listed.stdout.splitlines()[1].split() == ["ada@example.com", "Ada", "pro", "disabled", "never"]
    enabled = users.json("enable", "ADA@example.com")
    assert enabled | {"id": "", "createdAt": ""} == {
        "id": "",
        "email": "ada@example.com",
        "name": "Ada",
        "plan": "pro",
        "hasPassword": True,
        "disabled": False,
        "createdAt": "",
        "lastSignInAt": None,
    }
    assert not users.json("clear-password", "ada@example.com")["hasPassword"]
    changed = users("set-password", "ada@example.com", "--password-stdin", stdin=PASSWORD)
    assert changed.returncode == 0
    assert PASSWORD not in added.stdout + added.stderr + changed.stdout + changed.stderr


def test_removing_the_only_way_to_sign_in_comes_with_a_warning(embedded: Command) -> None:
    embedded("add", "ada@example.com", "--password-stdin", stdin=PASSWORD)
    result = embedded("clear-password", "ada@example.com")
    assert result.returncode == 0
    assert "pressroom users set-password ada@example.com" in result.stderr
    embedded.config += '[accounts.identity_provider]\nissuer = "https://id.example.com"\nclient_id = "pressroom"\n'
    embedded.write_config()
    assert "set-password" not in embedded("clear-password", "ada@example.com").stderr


def test_an_account_without_a_password_is_pointed_out(embedded: Command) -> None:
    result = embedded("add", "ada@example.com")
    assert result.returncode == 0
    assert "pressroom users set-password ada@example.com --password-stdin" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        (["add", "ada@example.com"], "", "email: there is already an account with the e-mail address ada@example.com"),
        (["add", "nobody"], "", "email: must be an e-mail address"),
        (["add", "bob@example.com", "--plan", "por"], "", 'plan: there is no plan "por"; did you mean pro?'),
        (["add", "bob@example.com", "--password-stdin"], "short", "password: must have at least 12 characters"),
        (["add", "bob@example.com", "--password-stdin"], b"\xff" * 20, "password: must be text in UTF-8"),
        (["add", "bob@example.com", "--password-stdin"], "", "password: must have at least 12 characters"),
        (["set-plan", "ada@example.com", "gold"], "", 'there is no plan "gold"; there are free, pro'),
        (["disable", "bob@example.com"], "", "there is no account with the e-mail address bob@example.com"),
    ],
)
def test_problems_are_reported_and_the_exit_code_is_one(
    with_ada: Command, arguments: list[str], stdin: str | bytes, says: str
) -> None:
    result = with_ada(*arguments, stdin=stdin)
    assert (result.returncode, result.stdout) == (1, "")
    assert says in result.stderr


def test_errors_have_a_hint_in_json(with_ada: Command) -> None:
    error = with_ada.json("disable", "bob@example.com")["error"]
    assert (error["code"], error["hint"]) == ("not_found", "`pressroom users list` shows them")


def test_a_password_is_never_an_argument(embedded: Command) -> None:
    result = embedded("set-password", "ada@example.com")
    assert result.returncode == 2
    assert "--password-stdin" in result.stderr


def test_accounts_are_listed_in_pages(embedded: Command) -> None:
    assert embedded("list").stdout == "There is no account.\n"
    assert embedded.json("list") == {"users": [], "next": None}
    for name in "cab":
        embedded("add", f"{name}@example.com")
    first = embedded.json("list", "--limit", "2")
    assert ([user["email"] for user in first["users"]], first["next"]) == (
        ["a@example.com", "b@example.com"],
        "b@example.com",
    )
    rest = embedded.json("list", "--limit", "2", "--after", first["next"])
    assert ([user["email"] for user in rest["users"]], rest["next"]) == (["c@example.com"], None)
    assert "There are more: --after b@example.com" in embedded("list", "--limit", "2").stderr
    assert [user["email"] for user in embedded.json("list", "--find", "C@")["users"]] == ["c@example.com"]
    assert (
        embedded("list", "--find", "nobody").stdout
        == "There is no account with 'nobody' in its e-mail address or name.\n"
    )


@pytest.mark.services
def test_a_shared_database_is_never_migrated_automatically(tmp_path: Path) -> None:
    with databases.postgresql_url() as url:
        result = Command(tmp_path, {"database": url})("list")
    assert (result.returncode, result.stdout) == (1, "")
    assert "are not those of this version" in result.stderr
    assert "pressroom migrate" in result.stderr


def test_a_running_server_sees_changes_by_a_command(tmp_path: Path) -> None:
    command = Command(tmp_path, {})
    with serving(tmp_path, command.config):
        assert command("add", "ada@example.com", "--password-stdin", stdin=PASSWORD).returncode == 0
        assert command.json("list")["users"][0]["email"] == "ada@example.com"
    settings = databases.settings_with_database({}, tmp_path / "data")

    async def verified() -> bool:
        async with databases.migrated(settings) as database:
            return await Users(database, settings).verify_password("ada@example.com", PASSWORD) is not None

    assert asyncio.run(verified())


def test_the_list_shows_memberships(users: Command) -> None:
    assert users("add", "ada@example.com").returncode == 0
    assert users("add", "bob@example.com").returncode == 0
    assert [user["memberOf"] for user in users.json("list")["users"]] == [[], []]
    assert "Works in" not in users("list").stdout
    asyncio.run(users.let_in("ada@example.com", "bob@example.com"))
    assert users.json("list", "--find", "bob")["users"][0]["memberOf"] == [
        {"account": "ada@example.com", "role": "reader"}
    ]
    assert "ada@example.com (reader)" in users("list").stdout
