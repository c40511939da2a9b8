"""Query plans: every statement of a page or call uses an index, so it stays fast with thousands of rows."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pressroom.accounts.activity import latest_uses, listing
from pressroom.accounts.api_keys import key_owner
from pressroom.accounts.connections import all_connections, live_connections
from pressroom.accounts.memberships import accounts_of, invitations_of, members_of, membership_of
from pressroom.accounts.quotas import used_in
from pressroom.accounts.sessions import SESSION_OF_TOKEN, sessions_of
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import (
    ActivityRow,
    ApiKeyRow,
    ConnectionRow,
    InvitationRow,
    MembershipRow,
    QuotaRow,
    SessionRow,
    UserRow,
)
from sqlalchemy import ClauseElement, insert, text

ROWS = 10_000
USERS = 20
NOW = datetime(2026, 11, 21, tzinfo=UTC)
BIG = {"users", "connections", "api_keys", "activity", "quota_usage", "sessions", "memberships", "invitations"}


@pytest.fixture
async def filled(database: SqlDatabase) -> SqlDatabase:
    """Return a database with thousands of rows in each table and up-to-date statistics."""
    users = [f"u_{number}" for number in range(ROWS)]
    connections = [f"c_{number}" for number in range(ROWS)]
    rows: list[tuple[type[Any], list[dict[str, Any]]]] = [
        (
            UserRow,
            [
                {"id": user_id, "email": f"{user_id}@example.com", "plan": "free", "created_at": NOW}
                for user_id in users
            ],
        ),
        (
            ConnectionRow,
            [
                {
                    "id": connection_id,
                    "user_id": users[number % 1000],
                    "kind": "api_key",
                    "name": connection_id,
                    "created_at": NOW,
                }
                for number, connection_id in enumerate(connections)
            ],
        ),
        (
            ApiKeyRow,
            [
                {"key_hash": number.to_bytes(32, "big"), "connection_id": connection_id, "hint": "abcd"}
                for number, connection_id in enumerate(connections)
            ],
        ),
        (
            SessionRow,
            [
                {
                    "token_hash": number.to_bytes(32, "big"),
                    "user_id": users[number % USERS],
                    "created_at": NOW,
                    "seen_at": NOW,
                    "expires_at": NOW,
                }
                for number in range(ROWS)
            ],
        ),
        (
            MembershipRow,
            [
                {"account_id": user_id, "member_id": users[number % 1000], "role": "editor", "created_at": NOW}
                for number, user_id in enumerate(users)
            ],
        ),
        (
            InvitationRow,
            [
                {
                    "id": user_id,
                    "token_hash": number.to_bytes(32, "big"),
                    "account_id": users[number % 1000],
                    "role": "editor",
                    "created_at": NOW,
                    "expires_at": NOW,
                }
                for number, user_id in enumerate(users)
            ],
        ),
        (
            QuotaRow,
            [{"user_id": user_id, "month": "2026-11", "quota": "articles_created", "used": 1} for user_id in users],
        ),
        (
            ActivityRow,
            [
                {
                    "user_id": users[number % USERS],
                    "connection_id": connections[number % 400],
                    "at": NOW,
                    "tool": f"tool_{number % 100}",
                    "code": "ok" if number % 50 else "not_found",
                    "duration": 0.1,
                    "website_id": f"w_{number % 100}" if number % 2 else "",
                }
                for number in range(ROWS)
            ],
        ),
    ]
    async with database.writing() as session:
        for table, values in rows:
            await session.execute(insert(table), values)
    async with database.writing() as session:
        await session.execute(text("ANALYZE"))
    return database


async def scanned(database: SqlDatabase, statement: ClauseElement) -> set[str]:
    """Return the tables that the query plan scans sequentially."""
    async with database.reading() as session:
        connection = await session.connection()
        compiled = statement.compile(connection.sync_engine, compile_kwargs={"literal_binds": True})
        if database.dialect == "sqlite":
            steps = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")).all()
            details = [step.detail for step in steps]
            assert details
            return {detail.split()[1] for detail in details if detail.startswith("SCAN ")}
        plan = (await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {compiled}")).scalar_one()
        return set(_sequential(json.loads(plan) if isinstance(plan, str) else plan))


def _sequential(node: Any) -> list[str]:
    if isinstance(node, list):
        return [table for child in node for table in _sequential(child)]
    if not isinstance(node, dict):
        return []
    tables = [node["Relation Name"]] if node.get("Node Type") == "Seq Scan" else []
    return tables + [table for value in node.values() for table in _sequential(value)]


FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"before": 5000},
    {"tool": "tool_7"},
    {"code": "error"},
    {"code": "not_found"},
    {"connection": "c_7"},
    {"website_id": "w_7"},
    {"since": NOW},
    {"tool": "tool_7", "before": 5000, "code": "error"},
)


async def test_no_query_scans_a_complete_table(filled: SqlDatabase) -> None:
    # The databases write binary literals differently, so each gets its own literal for the hash.
    key = "x'00'" if filled.dialect == "sqlite" else "'\\x00'::bytea"
    by_key = str(key_owner(b"").compile()).partition("WHERE")[0] + f"WHERE api_keys.key_hash = {key}"
    head = str(SESSION_OF_TOKEN.compile()).rpartition("WHERE")[0]
    by_token = head + f"WHERE sessions.token_hash = {key}"
    statements: dict[str, ClauseElement] = {
        **{f"calls {filters}": listing("u_7", **filters).limit(50) for filters in FILTERS},
        "the last uses of tools": latest_uses("u_7", "c_7"),
        "a key": text(by_key),
        "connections": live_connections("u_7").limit(25),
        "all connections": all_connections("u_7").limit(25),
        "sessions": sessions_of("u_7").limit(20),
        "a session, where it works": text(by_token),
        "members": members_of("u_7"),
        "accounts of a member": accounts_of("u_7"),
        "a membership": membership_of("u_7", "u_8"),
        "invitations": invitations_of("u_7"),
        "a quota": used_in("u_7", "2026-11"),
    }
    full_scans = {name: await scanned(filled, statement) & BIG for name, statement in statements.items()}
    assert {name: tables for name, tables in full_scans.items() if tables} == {}
    # A query without an index is detected.
    assert await scanned(filled, text("SELECT count(*) FROM activity WHERE request_id = 'r'")) == {"activity"}
