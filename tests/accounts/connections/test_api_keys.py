"""API keys: creation, hashed storage, recognition, and revocation or expiry."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pressroom.accounts.api_keys import checksum, new_key
from pressroom.accounts.records import User
from pressroom.accounts.service import AccountServices
from pressroom.config import Settings
from pressroom.errors import BackendError, NotFound, Rejected
from pressroom.sdk import Credentials, Identity
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import Base
from sqlalchemy import select


def bearer(text: str) -> Credentials:
    return Credentials(bearer=text, client_ip="203.0.113.7", headers={})


async def refusal(accounts: AccountServices, key: str) -> str:
    with pytest.raises(Rejected) as caught:
        await accounts.api_keys.authenticate(bearer(key))
    assert not caught.value.reauthorize
    assert key not in caught.value.message
    return caught.value.message


@pytest.fixture
def reads(database: SqlDatabase, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that reports the number of read transactions since the fixture was set up."""
    count = 0
    reading = database.reading

    def counted() -> Any:
        nonlocal count
        count += 1
        return reading()

    monkeypatch.setattr(database, "reading", counted)
    return lambda: count


async def test_a_key_is_recognised(accounts: AccountServices, user: User) -> None:
    connection, key = await accounts.api_keys.create(user.id, "laptop")
    assert connection.hint == key[-4:]
    assert connection.kind == "api_key"
    assert await accounts.api_keys.authenticate(bearer(key)) == Identity(
        subject=user.id, plan="free", connection=connection.id, connection_name="laptop"
    )


async def test_only_a_hash_is_stored(accounts: AccountServices, database: SqlDatabase, user: User) -> None:
    _, key = await accounts.api_keys.create(user.id, "laptop")
    secret = key.split("_")[2]
    async with database.reading() as session:
        tables = [(await session.execute(select(table))).all() for table in Base.metadata.sorted_tables]
    assert secret.encode() not in repr(tables).encode()
    assert secret not in repr(tables)


async def test_an_unknown_account_gets_no_key(accounts: AccountServices) -> None:
    with pytest.raises(NotFound):
        await accounts.api_keys.create("u_nobody", "laptop")


@pytest.mark.parametrize("text", ["", "prk_oat_x.y.z", "prk", "Prk_key_x", "ghp_abc", "x" * 100_000])
async def test_other_tokens_are_ignored_without_a_lookup(
    accounts: AccountServices, reads: Callable[[], int], text: str
) -> None:
    assert await accounts.api_keys.authenticate(bearer(text)) is None
    assert reads() == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda key: key[:-1],
        lambda key: key + "x",
        lambda key: key + "\n",
        lambda key: key.replace("_key_", "_key_\udcff", 1)[: len(key)],
        lambda key: key[:-1] + ("a" if key[-1] != "a" else "b"),
        lambda key: key[:12] + ("a" if key[12] != "a" else "b") + key[13:],
        lambda key: key[:10] + key[11] + key[10] + key[12:] if key[10] != key[11] else key[:-1],
        lambda _key: "prk_key_",
        lambda _key: "prk_key_" + "x" * 100_000,
    ],
)
async def test_a_mistyped_key_never_reaches_the_database(
    accounts: AccountServices, user: User, reads: Callable[[], int], damage: Callable[[str], str]
) -> None:
    _, key = await accounts.api_keys.create(user.id, "laptop")
    before = reads()
    assert "copy it again" in await refusal(accounts, damage(key))
    assert reads() == before


async def test_an_unknown_key_is_refused(accounts: AccountServices, reads: Callable[[], int]) -> None:
    assert "unknown API key" in await refusal(accounts, new_key("prk"))
    assert reads() == 1


async def test_a_refusal_is_not_cached(accounts: AccountServices, user: User) -> None:
    _, key = await accounts.api_keys.create(user.id, "laptop")
    await accounts.users.set_disabled(user.id, True)
    await refusal(accounts, key)
    await accounts.users.set_disabled(user.id, False)
    assert await accounts.api_keys.authenticate(bearer(key)) is not None


async def test_a_known_key_is_accepted_without_a_lookup(
    accounts: AccountServices, user: User, reads: Callable[[], int]
) -> None:
    _, key = await accounts.api_keys.create(user.id, "laptop")
    before = reads()
    for _ in range(100):
        await accounts.api_keys.authenticate(bearer(key))
    assert reads() == before + 1


async def test_concurrent_calls_share_one_lookup(
    accounts: AccountServices, user: User, reads: Callable[[], int]
) -> None:
    _, key = await accounts.api_keys.create(user.id, "laptop")
    before = reads()
    identities = await asyncio.gather(*(accounts.api_keys.authenticate(bearer(key)) for _ in range(50)))
    assert {identity.subject for identity in identities if identity} == {user.id}
    assert reads() == before + 1


Change = Callable[[AccountServices, str, str], Awaitable[object]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda accounts, user, connection: accounts.connections.revoke(user, connection), "was revoked on 20"),
        (lambda accounts, user, _connection: accounts.users.set_disabled(user, True), "the account .* is disabled"),
    ],
)
async def test_a_revoked_key_or_disabled_account_is_refused_immediately(
    accounts: AccountServices, user: User, change: Change, message: str
) -> None:
    connection, key = await accounts.api_keys.create(user.id, "laptop")
    assert await accounts.api_keys.authenticate(bearer(key)) is not None
    await change(accounts, user.id, connection.id)
    with pytest.raises(Rejected, match=message) as caught:
        await accounts.api_keys.authenticate(bearer(key))
    assert not caught.value.reauthorize


async def test_a_lookup_from_before_the_revocation_is_not_reused(
    accounts: AccountServices, database: SqlDatabase, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, key = await accounts.api_keys.create(user.id, "laptop")
    has_read, may_go_on = asyncio.Event(), asyncio.Event()
    original = accounts.api_keys._look_up

    async def slow(key_hash: bytes) -> Identity:
        identity = await original(key_hash)
        has_read.set()
        await may_go_on.wait()
        return identity

    monkeypatch.setattr(accounts.api_keys, "_look_up", slow)
    early = asyncio.create_task(accounts.api_keys.authenticate(bearer(key)))
    await has_read.wait()
    monkeypatch.setattr(accounts.api_keys, "_look_up", original)
    await accounts.connections.revoke(user.id, connection.id)
    with pytest.raises(Rejected, match="revoked"):
        await accounts.api_keys.authenticate(bearer(key))
    may_go_on.set()
    await early
    with pytest.raises(Rejected, match="revoked"):
        await accounts.api_keys.authenticate(bearer(key))


async def test_changes_apply_to_the_next_call(accounts: AccountServices, user: User) -> None:
    connection, key = await accounts.api_keys.create(user.id, "laptop")
    assert await accounts.api_keys.authenticate(bearer(key)) is not None
    await accounts.connections.set_disabled_tools(user.id, connection.id, ["a_tool"])
    await accounts.connections.rename(user.id, connection.id, "desk")
    identity = await accounts.api_keys.authenticate(bearer(key))
    assert identity is not None
    assert (identity.disabled_tools, identity.connection_name) == (frozenset({"a_tool"}), "desk")


async def test_a_new_plan_applies_to_the_next_call(database: SqlDatabase, database_settings: Settings) -> None:
    plans = Settings.model_validate({"plans": {"pro": {}}}).plans
    accounts = AccountServices(database_settings.model_copy(update={"plans": plans}), database)
    user = await accounts.users.add("ada@example.com")
    _, key = await accounts.api_keys.create(user.id, "laptop")
    before = await accounts.api_keys.authenticate(bearer(key))
    await accounts.users.set_plan(user.id, "pro")
    after = await accounts.api_keys.authenticate(bearer(key))
    assert (before and before.plan, after and after.plan) == ("free", "pro")


async def test_an_outage_is_not_a_refusal(accounts: AccountServices, database: SqlDatabase, user: User) -> None:
    _, key = await accounts.api_keys.create(user.id, "laptop")
    await database.close()
    with pytest.raises(BackendError):
        await accounts.api_keys.authenticate(bearer(key))
    await database.open()
    assert await accounts.api_keys.authenticate(bearer(key)) is not None


async def test_a_key_with_another_prefix_is_not_recognised(database: SqlDatabase, database_settings: Settings) -> None:
    auth = database_settings.auth.model_copy(update={"prefix": "acme"})
    accounts = AccountServices(database_settings.model_copy(update={"auth": auth}), database)
    user = await accounts.users.add("ada@example.com")
    _, key = await accounts.api_keys.create(user.id, "laptop")
    assert key.startswith("acme_key_")
    assert await accounts.api_keys.authenticate(bearer(key)) is not None
    body = "prk_key_" + "x" * 32
    assert await accounts.api_keys.authenticate(bearer(f"{body}_{checksum(body)}")) is None
