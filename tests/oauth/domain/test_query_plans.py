"""Query plans: every look-up uses an index, even in large tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pressroom.columns import hash_of
from pressroom.sdk import Credentials
from pressroom.storage.database.tables import (
    ClientRow,
    CodeRow,
    ConnectionRow,
    RefreshTokenRow,
    TokenFamilyRow,
    UserRow,
)
from sqlalchemy import Engine, Insert, event, insert, text
from support.oauth_world import World

ROWS = 10_000


async def fill(world: World, user: str) -> None:
    now = world.clock()
    later = now + timedelta(days=1)
    numbers = range(ROWS)
    client = {
        "name": "", "redirect_uris": [], "auth_method": "none", "client_metadata": {}, "registered_from": "",
        "created_at": now,
    }  # fmt: skip
    account = {"name": "", "plan": "free", "password_hash": "", "disabled": False, "created_at": now}
    connection = {
        "user_id": user, "kind": "oauth", "name": "x", "disabled_tools": [], "created_at": now, "last_used_address": "",
        "revoked_at": now,
    }  # fmt: skip
    family = {"scope": "mcp", "resource": "r", "created_at": now}
    code = {"redirect_uri": "r", "redirect_uri_sent": True, "code_challenge": "x", "expires_at": later}
    rows: list[tuple[Insert, list[dict[str, Any]]]] = [
        (insert(UserRow), [{"id": f"u_{n}", "email": f"{n}@example.com", **account} for n in numbers]),
        (insert(ClientRow), [{"id": f"client_{n}", "metadata_hash": hash_of(f"m{n}"), **client} for n in numbers]),
        (insert(ConnectionRow), [{"id": f"c_{n}", **connection} for n in numbers]),
        (
            insert(TokenFamilyRow),
            [{"id": f"f_{n}", "connection_id": f"c_{n}", "client_id": f"client_{n}", **family} for n in numbers],
        ),
        (insert(CodeRow), [{"code_hash": hash_of(f"c{n}"), "family_id": f"f_{n}", **code} for n in numbers]),
        (
            insert(RefreshTokenRow),
            [
                {"token_hash": hash_of(f"r{n}"), "family_id": f"f_{n}", "created_at": now, "expires_at": later}
                for n in numbers
            ],
        ),
    ]
    async with world.database.writing() as session:
        for statement, values in rows:
            await session.execute(statement, values)
        await session.execute(text("ANALYZE"))


async def plan_of(world: World, statement: str, parameters: Any) -> str:
    """Return the query plan of a statement."""
    explain = "EXPLAIN QUERY PLAN" if world.database.dialect == "sqlite" else "EXPLAIN"
    async with world.database.reading() as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(f"{explain} {statement}", parameters)
        return "\n".join(" ".join(map(str, row)) for row in rows)


async def test_no_query_scans_a_whole_table(world: World) -> None:
    user, client = await world.user(), await world.client()
    await fill(world, user)
    executed: dict[str, Any] = {}

    def remember(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.split(maxsplit=1)[0] in ("SELECT", "UPDATE"):
            executed[statement] = parameters

    event.listen(Engine, "before_cursor_execute", remember)
    tokens = await world.connect(user, client)
    tokens = await world.server.refresh(client, tokens.refresh_token, "", [])
    credentials = Credentials(bearer=tokens.access_token, client_ip="", headers={})
    assert await world.server.authenticate(credentials) is not None
    await world.server.clients.register(client.metadata, "")
    await world.server.clients.authenticate(client.id, "")
    await world.server.revoke(client, tokens.refresh_token)
    event.remove(Engine, "before_cursor_execute", remember)
    lookups = {statement: parameters for statement, parameters in executed.items() if "oauth_" in statement}
    assert len(lookups) >= 8
    for statement, parameters in lookups.items():
        if "oauth_signing_keys" in statement:  # a table with only a few rows
            continue
        plan = await plan_of(world, statement, parameters)
        assert "Seq Scan" not in plan, f"{statement}\n{plan}"
        assert "SCAN " not in plan, f"{statement}\n{plan}"
