"""Tables that differ from their migrations are detected, on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pressroom.columns import Timestamp
from pressroom.sdk import Models
from pressroom.testing.contracts import check_migrations
from sqlalchemy import Column, DateTime, Integer, MetaData, String, Table, Text
from support.migrations import revision_source, write_migrations
from support.needs import check_allowed
from support.run import POSTGRESQL


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"drifting_{tmp_path.name.replace('-', '_')}"
    return write_migrations(tmp_path, name, {"0001": revision_source("0001", "notes")})


def metadata(*more: Column[Any]) -> MetaData:
    metadata = MetaData()
    Table("notes", metadata, Column("id", Integer, primary_key=True), Column("text", Text), *more)
    return metadata


def test_a_column_without_a_migration_is_reported(package: str) -> None:
    [finding] = check_migrations("notes", Models(metadata(Column("color", String(7))), package))
    assert finding.contract == "migrations"
    assert finding.promise == "the migrations create the tables that the models describe"
    assert finding.where == f"{package} on SQLite"
    assert finding.seen == "add_column notes.color"
    assert finding.fix


def test_a_column_whose_timestamps_differ_between_databases_is_reported(package: str) -> None:
    # The migration lacks both columns, which is reported separately.
    more = Column("seen_at", DateTime(timezone=True)), Column("kept_at", Timestamp)
    findings = {finding.promise: finding for finding in check_migrations("notes", Models(metadata(*more), package))}
    assert len(findings) == 2
    moments = findings["timestamps are the same on every database"]
    assert moments.seen == "DateTime, whose values differ between SQLite and PostgreSQL: notes.seen_at"
    assert "pressroom.columns.Timestamp" in moments.fix


def test_matching_tables_get_no_findings(package: str) -> None:
    assert check_migrations("notes", Models(metadata(), package)) == []


@pytest.mark.services
def test_the_migrations_run_on_postgresql_too(package: str) -> None:
    check_allowed("PostgreSQL")
    models = Models(metadata(Column("color", String(7))), package)
    findings = check_migrations("notes", models, postgresql=POSTGRESQL)
    assert [finding.where for finding in findings] == [f"{package} on SQLite", f"{package} on PostgreSQL"]
    assert check_migrations("notes", Models(metadata(), package), postgresql=POSTGRESQL) == []


def test_a_failed_migration_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    source = revision_source("0001", "notes", more="raise ValueError('no')")
    name = write_migrations(tmp_path, "failing_drift", {"0001": source})
    findings = check_migrations("notes", Models(metadata(), name))
    assert {finding.promise for finding in findings} == {
        "the migrations create the tables that the models describe",
        "migrating again changes nothing",
    }
    assert "a migration of notes failed and was undone: ValueError: no" in findings[0].seen
