"""Isolation of test databases: no test sees what another did to its database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from support.databases import migrated, postgresql_url, settings_with_database

pytestmark = pytest.mark.services

ROW = "INSERT INTO quota_usage (user_id, month, quota, used) VALUES ('u_1', '2026-11', 'articles', 1)"
USER = (
    "INSERT INTO users (id, email, name, plan, password_hash, disabled, created_at) "
    "VALUES ('u_1', 'a', '', '', '', false, 1)"
)

CHANGES = (
    "SELECT 1",
    "ALTER TABLE users ADD COLUMN nickname text",
    "ALTER TABLE users DROP COLUMN name",
    "ALTER TABLE users ALTER COLUMN name DROP NOT NULL",
    "ALTER TABLE users ALTER COLUMN name SET DEFAULT 'x'",
    "ALTER TABLE users ADD CONSTRAINT named CHECK (name <> 'x')",
    "CREATE INDEX ix_users_name ON users (name)",
    "DROP INDEX ix_jobs_kind_subject_due_at",
    "CREATE TABLE notes (text text)",
    "CREATE TYPE color AS ENUM ('red')",
    "UPDATE schema_version_pressroom SET version_num = '9999'",
    "DROP TABLE schema_version_pressroom",
    "ANALYZE",
)

LOOK = """
    SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM quota_usage), nextval('activity_id_seq'),
           (SELECT string_agg(version_num, ',') FROM schema_version_pressroom),
           (SELECT string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default), ','
                              ORDER BY table_name, ordinal_position)
            FROM information_schema.columns WHERE table_schema = 'public'),
           (SELECT string_agg(indexdef, ',' ORDER BY indexdef) FROM pg_indexes WHERE schemaname = 'public'),
           (SELECT string_agg(conname, ',' ORDER BY conname) FROM pg_constraint
            WHERE connamespace = 'public'::regnamespace),
           (SELECT string_agg(typname, ',' ORDER BY typname) FROM pg_type WHERE typnamespace = 'public'::regnamespace),
           (SELECT max(reltuples) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r')
"""


def test_no_rows_of_a_test_are_left_for_the_next(tmp_path: Path) -> None:
    async def use(url: str, change: str) -> list[object]:
        """Return the state of the tables, then insert rows and change the schema."""
        async with migrated(settings_with_database({"database": url}, tmp_path)) as database:
            async with database.writing() as session:
                values = list((await session.execute(text(LOOK))).one())
            async with database.writing() as session:
                for statement in (USER, ROW, change):
                    await session.execute(text(statement))
            return values

    results = []
    for change in (*CHANGES, "SELECT 1", "SELECT 1"):
        with postgresql_url(tables=True) as url:
            results.append(asyncio.run(use(url, change)))
    assert results[0][:3] == [0, 1, "0007"]
    assert all(row == results[0] for row in results[1:])
