"""Query plans: interactive queries use an index, even in large tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pressroom.columns import new_id
from pressroom_content.publishing.overview import entries, latest, placements, upcoming
from pressroom_content.services import services_of
from sqlalchemy import Engine, event
from support.content_client import Client
from support.content_rows import fill

ARTICLES = 1_200
SMALL = ("alembic", "content_websites", "content_voices")


async def plan_of(client: Client, statement: str, parameters: Any) -> str:
    """Return the query plan of a statement."""
    database = client.plugin.services.database
    explain = "EXPLAIN QUERY PLAN" if database.dialect == "sqlite" else "EXPLAIN"
    async with database.reading() as session:
        connection = await session.connection()
        if database.dialect == "postgresql":
            # A few hundred rows are scanned faster than an index: what matters is whether an index could be used.
            await connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        rows = await connection.exec_driver_sql(f"{explain} {statement}", parameters)
        return "\n".join(" ".join(map(str, row)) for row in rows)


async def published(client: Client, ids: list[str], now: datetime) -> int:
    """Query where articles are placed and what was published in a day, and return the number of publications."""
    async with client.plugin.services.database.reading() as session:
        await placements(session, client.user_id, ids)
        await upcoming(session, client.user_id, now, now + timedelta(days=1), 4)
        await latest(session, client.user_id, now - timedelta(days=1), now, 4)
        return len(await entries(session, client.user_id, now - timedelta(days=1), now))


def test_no_query_scans_a_whole_table(ada: Client, eve: Client) -> None:
    database = ada.plugin.services.database
    ids = ada.host.run(fill(database, ada.user_id, ARTICLES, new_id("w"), 24))
    ada.host.run(fill(database, eve.user_id, 10, new_id("w")))
    executed: dict[str, Any] = {}

    def remember(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.split(maxsplit=1)[0] in ("SELECT", "UPDATE", "DELETE") and "content_" in statement:
            executed[statement] = parameters

    event.listen(Engine, "before_cursor_execute", remember)
    try:
        ada.data("list_content")
        ada.data("list_content", status="published", tag="news", updated_since="2020-01-01")
        ada.data("list_content", query="ba bo")
        ada.data("get_content", content_id=ids[0])
        article = ada.data("create_content", title="New", body="Text.", client_request_id="r")["content_id"]
        ada.data("update_content", content_id=article, expected_version=1, fields={"title": "Newer", "slug": "newer"})
        ada.data("get_content", content_id=article, versions=True)
        ada.host.run(services_of(ada.plugin).text_checks.duplicates(ada.user_id, ids[1]))
        ada.data("suggest_internal_links", content_id=ids[1])
        ada.data("delete_content", content_id=article, confirm=True)
        now = datetime.now(UTC)
        assert ada.host.run(published(ada, ids[:50], now)) > 100
    finally:
        event.remove(Engine, "before_cursor_execute", remember)
    queries = {
        statement: parameters
        for statement, parameters in executed.items()
        if not any(name in statement for name in SMALL)
    }
    assert len(queries) >= 15
    for statement, parameters in queries.items():
        plan = ada.host.run(plan_of(ada, statement, parameters))
        for line in plan.splitlines():
            assert "Seq Scan on content_" not in line, f"{statement}\n{plan}"
            assert "SCAN content_" not in line, f"{statement}\n{plan}"
