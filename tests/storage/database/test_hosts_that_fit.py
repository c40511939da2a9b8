"""Hosts that share a database have the same keys, or refuse to start and explain why."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from pressroom.cli.diagnosis import diagnose
from pressroom.config import Settings
from pressroom.config.loading import load
from pressroom.errors import BackendError
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.host.stores import accept_keys
from pressroom.storage.database import SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.publications import Publications
from pressroom_content.websites.store import Websites
from support.commands import Done, run_command, run_forked
from support.content_client import client_of, content_of
from support.databases import postgresql_url
from support.migrations import migrate
from support.publishing_world import ADA, world
from support.redis import any_redis
from support.s3 import S3Server, rclone_server
from support.server import command_environment, serving
from support.webhook_receiver import Receiver, receiving

pytestmark = pytest.mark.services

RECIPE = Path(__file__).parents[3] / "docs/how-to/many-hosts.md"
SECRET, OTHER = "s" * 32, "o" * 32
OLD, NEW = "old-" + "k" * 32, "new-" + "k" * 32


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_url() as database_url:
        yield database_url


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


def config(url: str | None, *, secret: str = SECRET, keys: tuple[str, ...] = (OLD,)) -> dict[str, Any]:
    return {
        "secret_key": secret,
        "storage": {"database": url} if url else {},
        "plugins": {"content": {"config": {"credential_keys": keys}}, "webhook": {}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "jobs": {"poll_interval": 0.1},
    }


async def start_and_stop(settings: Settings) -> None:
    host = Host(LoadedApp(settings))
    await host.start()
    await host.close()


async def accepted(settings: Settings, name: str) -> None:
    database = SqlDatabase(settings)
    await database.open()
    try:
        await accept_keys(LoadedApp(settings), database, name)
    finally:
        await database.close()


async def stored(settings: Settings) -> str:
    """Store a website with a credential, and return its ID."""
    async with world(settings, works=False) as plugin:
        credential = {"endpoint": "https://example.com/hook", "secret": SECRET}
        website = await Websites(plugin).add(
            ADA, "webhook", name="Hook", url="https://example.com", credential=credential, finding=None
        )
        return website.id


async def refusal(settings: Settings) -> str:
    """Return the message and hint of a host that refuses to start."""
    with pytest.raises(BackendError) as raised:
        await start_and_stop(settings)
    return f"{raised.value.message}\n{raised.value.hint}"


def connect(host: RunningHost, user: str, receiver: Receiver) -> str:
    website = host.run(
        Websites(content_of(host)).add(
            user, "webhook", name="Hook", url=receiver.site, credential=receiver.credential, finding=None
        )
    )
    return website.id


def publish(host: RunningHost, user: str, website: str) -> str:
    """Publish a new article, and return the publication's status and error."""

    async def published() -> str:
        plugin = content_of(host)
        created = await Articles(plugin).create(user, Draft("Title", "Some words."))
        publications = Publications(plugin)
        publication = await publications.publish(user, created.article.id, website)
        while publication.status in ("queued", "publishing", "unknown"):
            publication = await publications.wait(publication, 0.2)
        return f"{publication.status} {publication.error}".strip()

    return host.run(published())


def recipe(url: str, folder: Path, s3: S3Server, redis: str) -> str:
    """Return the how-to's configuration, with this test's servers in place of the documented ones."""
    match = re.search(r"```toml\n(.*?)```", RECIPE.read_text(), re.DOTALL)
    assert match is not None
    text = match[1]
    for example, real in (
        ("postgresql://pressroom@db.internal/pressroom", url),
        ("s3://my-bucket/pressroom", "s3://shared/pressroom"),
        ("rediss://redis.internal:6379/0", redis),
        ("[storage]", f'[storage]\npath = "{folder}"'),
    ):
        assert example in text
        text = text.replace(example, real)
    return (
        f'{text}\n[storage.s3]\nendpoint_url = "{s3.endpoint}"\n'
        f'access_key_id = "{s3.access_key_id}"\nsecret_access_key = "{s3.secret_access_key}"\n'
    )


class Operator:
    """Runs the command in a folder with a configuration file."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.file = folder / "pressroom.toml"

    def configure(self, config: str) -> None:
        self.folder.mkdir(exist_ok=True)
        self.file.write_text(config)

    def run(self, *arguments: str) -> Done:
        return run_command(arguments, cwd=self.folder, env=self.environment)

    def json(self, *arguments: str) -> tuple[int, Any]:
        result = self.run(*arguments, "--json")
        return result.returncode, json.loads(result.stdout)

    def doctor(self) -> tuple[int, list[str]]:
        """Return the exit code, and all checks that are not ok."""
        code, document = self.json("doctor")
        # On a busy machine plugins may be slow to import, which causes a warning as well.
        rows = [row for row in document["checks"] if row["status"] != "ok" and "import took" not in row["message"]]
        return code, [f"{row['status']} {row['check']}: {row['message']}" for row in rows]


def test_two_hosts_set_up_as_documented_publish_to_each_others_websites(
    url: str, receiver: Receiver, tmp_path: Path
) -> None:
    variables = dict.fromkeys(re.findall(r"`(PRESSROOM_\w+)`", RECIPE.read_text()))
    assert list(variables) == ["PRESSROOM_SECRET_KEY", "PRESSROOM_PLUGINS__CONTENT__CONFIG__CREDENTIAL_KEYS"]
    secret, keys = variables
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")},
        secret: secrets.token_hex(),
        keys: json.dumps([secrets.token_hex()]),
    }
    with rclone_server(tmp_path / "s3") as s3, any_redis(tmp_path) as redis:
        asyncio.run(s3.make_bucket("shared"))
        hosts = [Operator(tmp_path / name, environment) for name in ("a", "b")]
        for host in hosts:
            host.configure(recipe(url, host.folder / "data", s3, redis))
        assert hosts[0].run("migrate").returncode == 0
        assert [host.doctor() for host in hosts] == [(0, []), (0, [])]
        # Only to allow publishing to this test's local receiver.
        overrides = {
            "fetch": {"private_networks": ["127.0.0.0/8"]},
            "jobs": {"poll_interval": 0.1},
            "executors": {"processes": 1},
        }
        settings = [load(host.file, environment, overrides).settings for host in hosts]
        with RunningHost(settings[0]) as a, RunningHost(settings[1]) as b:
            user = client_of(a, "ada@example.com").user_id
            websites = [connect(host, user, receiver) for host in (a, b)]
            outcomes = [publish(host, user, website) for host in (a, b) for website in websites]
        assert outcomes == ["published"] * 4
        assert [host.doctor() for host in hosts] == [(0, []), (0, [])]


@pytest.mark.parametrize(
    ("other", "name", "setting"),
    [
        ({"secret": OTHER}, "secret_key", "secret_key"),
        ({"keys": (NEW,)}, "credential_keys", "[plugins.content.config] credential_keys"),
        ({"keys": ()}, "credential_keys", "[plugins.content.config] credential_keys"),
    ],
    ids=["another secret_key", "another key of credentials", "a key of credentials that the host made itself"],
)
async def test_a_host_with_another_key_is_refused_until_the_key_is_accepted(
    url: str, other: dict[str, Any], name: str, setting: str, tmp_path: Path
) -> None:
    first = settings_for_test(config(url), tmp_path / "a")
    await migrate(first)
    await start_and_stop(first)
    second = settings_for_test(config(url, **other), tmp_path / "b")
    message = await refusal(second)
    assert f"{name} does not include the key that PostgreSQL at 127.0.0.1:5432 is used with" in message
    assert f"set the same {setting} on every host" in message
    assert f"`pressroom secrets accept {name}`" in message
    assert ("it is not set here" in message) == (other == {"keys": ()})
    assert not any(key in message for key in (SECRET, OTHER, OLD, NEW))

    (row,) = [row for row in await diagnose(LoadedApp(second), lambda: None) if row.check == name]
    assert (row.result.status, f"{row.result.message}\n{row.result.hint}") == ("error", message)

    await accepted(second, name)
    await start_and_stop(second)
    await refusal(first)


async def test_of_two_concurrent_starts_with_different_keys_one_succeeds(url: str, tmp_path: Path) -> None:
    settings = [settings_for_test(config(url, secret=secret), tmp_path / secret[0]) for secret in (SECRET, OTHER)]
    await migrate(settings[0])
    results = await asyncio.gather(*map(start_and_stop, settings), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["BackendError", "NoneType"]


async def test_keys_of_credentials_are_replaced_without_downtime(url: str, tmp_path: Path) -> None:
    def host(*keys: str) -> Settings:
        return settings_for_test(config(url, keys=keys), tmp_path)

    await migrate(host(OLD))
    await start_and_stop(host(OLD))
    website = await stored(host(OLD))
    # Hosts that restart in turn are at most one key change apart.
    for keys in ((OLD, NEW), (OLD,), (OLD, NEW), (NEW, OLD), (OLD, NEW), (NEW, OLD)):
        await start_and_stop(host(*keys))
    assert "credential_keys does not include" in await refusal(host(OLD))
    (row,) = [row for row in await diagnose(LoadedApp(host(NEW)), lambda: None) if row.check == "credential_keys"]
    assert row.result.status == "warning"
    assert "credential_keys cannot decrypt 1 of the credentials of websites" in row.result.message
    async with world(host(NEW, OLD), works=False) as plugin:
        assert await Websites(plugin).reseal() == 1
    await start_and_stop(host(NEW))
    async with world(host(NEW), works=False) as plugin:
        await Websites(plugin).open(ADA, website)
    rows = [row.result for row in await diagnose(LoadedApp(host(NEW)), lambda: None) if row.check == "credential_keys"]
    assert [row.status for row in rows] == ["ok"]


async def test_a_database_without_fingerprints_is_refused_by_a_host_that_cannot_decrypt_it(
    url: str, tmp_path: Path
) -> None:
    """This is the state after an upgrade: credentials exist, but no fingerprints."""
    old, new = (settings_for_test(config(url, keys=keys), tmp_path) for keys in ((OLD,), (NEW,)))
    await migrate(old)
    await stored(old)
    message = await refusal(new)
    assert "credential_keys cannot decrypt 1 of the credentials of websites in PostgreSQL" in message
    assert "set the same [plugins.content.config] credential_keys on every host" in message
    await start_and_stop(old)
    assert "does not include" in await refusal(new)


async def test_the_generated_key_of_a_host_can_be_moved_to_the_setting(url: str, tmp_path: Path) -> None:
    keyless = settings_for_test(config(url, keys=()), tmp_path)
    await migrate(keyless)
    await start_and_stop(keyless)
    website = await stored(keyless)
    content = (tmp_path / "plugins/content/credentials.key").read_text().strip()
    moved = settings_for_test(config(url, keys=(content,)), tmp_path / "elsewhere")
    await start_and_stop(moved)
    async with world(moved, works=False) as plugin:
        await Websites(plugin).open(ADA, website)


async def test_one_host_with_a_file_may_change_its_keys_and_learns_what_ends(tmp_path: Path) -> None:
    before, after = (settings_for_test(config(None, secret=secret), tmp_path) for secret in (SECRET, OTHER))
    await start_and_stop(before)
    (row,) = [row for row in await diagnose(LoadedApp(after), lambda: None) if row.check == "secret_key"]
    assert row.result.status == "warning"
    with structlog.testing.capture_logs() as logs:
        await start_and_stop(after)
    (line,) = [line for line in logs if line["event"] == "a key does not fit"]
    assert (line["name"], line["log_level"]) == ("secret_key", "warning")
    assert "signed URLs of files stop working" in line["lost"]
    with structlog.testing.capture_logs() as logs:
        await start_and_stop(after)
    assert "a key does not fit" not in [line["event"] for line in logs]


def test_operators_list_and_accept_keys(url: str, tmp_path: Path) -> None:
    environment = command_environment(tmp_path, PRESSROOM_STORAGE__DATABASE=url, PRESSROOM_SECRET_KEY=SECRET)
    host = Operator(tmp_path, environment)
    host.configure("")
    assert host.run("migrate").returncode == 0
    with serving(tmp_path, "", {name: environment[name] for name in environment if name.startswith("PRESSROOM")}):
        assert host.run("secrets", "list").returncode == 0
    environment["PRESSROOM_SECRET_KEY"] = OTHER
    refused = run_forked(["serve", "--port", "0"], cwd=tmp_path, env=environment)
    assert refused.returncode == 1
    assert "Error: secret_key does not include the key that PostgreSQL at" in refused.stderr
    assert "run `pressroom secrets accept secret_key`" in refused.stderr
    assert "Traceback" not in refused.stderr
    listed = host.run("secrets", "list")
    assert listed.returncode == 1
    assert "DIFFERS" in listed.stdout
    assert "did you mean 'secret_key'?" in host.run("secrets", "accept", "secret_keys").stderr
    accepted = host.run("secrets", "accept", "secret_key")
    assert accepted.returncode == 0
    assert "With the old key gone, access tokens stop working until clients refresh them" in accepted.stderr
    code, document = host.json("secrets", "list")
    assert (code, document["ok"]) == (0, True)
    assert document["keys"][0]["own"] == [document["keys"][0]["recorded"]]
    assert OTHER not in str(document)
