"""The setup link for the first account that `serve` prints."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from pressroom.accounts.sessions import SetupLinks
from pressroom.accounts.users import Users
from support import databases
from support.forked_command import ForkedCommand
from support.server import PROCESSES_WHEN_NEEDED, Server, command_environment, serving


def token_of(server: Server) -> str:
    """Return the token in the setup link that a server announced."""
    url = urlsplit(server.announced["setupUrl"])
    assert (f"{url.scheme}://{url.netloc}", url.path) == (server.url, "/setup")
    token: str = parse_qs(url.query)["token"][0]
    return token


def token_shown_to_people(folder: Path) -> str:
    """Return the token in the setup link that a second server prints in its text output."""
    with (folder / "people.log").open("w") as log:
        process = ForkedCommand(
            ["serve", "--port", "0", "--config", str(folder / "pressroom.toml")],
            cwd=Path.cwd(),
            env={**PROCESSES_WHEN_NEEDED, **command_environment(folder)},
            stderr=log,
        )
    try:
        line = next(line for line in process.stdout if "/setup?token=" in line)
    finally:
        process.terminate()
        process.stdout.read()
        process.stdout.close()
        process.wait(40)
    token = line.strip().partition("=")[2]
    assert len(token) == 43
    return token


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", databases.KINDS)
def test_two_servers_and_a_restart_leave_one_single_use_link(kind: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        storage = stack.enter_context(databases.database_config(kind, tmp_path / "data"))
        settings = databases.settings_with_database(storage, tmp_path / "data")

        async def usable(tokens: list[str]) -> list[bool]:
            async with databases.migrated(settings) as database:
                links = SetupLinks(database, Users(database, settings))
                return [await links.usable(token) for token in tokens]

        async def redeem(token: str) -> None:
            async with databases.migrated(settings) as database:
                links = SetupLinks(database, Users(database, settings))
                await links.redeem(token, email="ada@example.com", name="", password="four quiet random words")

        asyncio.run(usable([]))
        config = f'[storage]\ndatabase = "{storage["database"]}"\n' if "database" in storage else ""
        with serving(tmp_path, config) as first:
            tokens = [token_of(first), token_shown_to_people(tmp_path)]
        with serving(tmp_path, config) as third:
            tokens.append(token_of(third))
            assert asyncio.run(usable(tokens)) == [False, False, True]
            asyncio.run(redeem(tokens[2]))
        assert asyncio.run(usable(tokens)) == [False, False, False]
        with serving(tmp_path, config) as fourth:
            assert fourth.announced["setupUrl"] is None
        logs = first.log + third.log + fourth.log + (tmp_path / "people.log").read_text()
        assert not any(token in logs for token in tokens)


def test_there_is_no_setup_link_without_password_sign_in(tmp_path: Path) -> None:
    with serving(tmp_path, "[accounts]\npassword_sign_in = false\n") as server:
        assert server.announced["setupUrl"] is None
