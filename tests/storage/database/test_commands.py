"""`pressroom migrate`, `serve` and `doctor` with a database, run by operators."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pressroom.config.loading import load
from pressroom.jobs.queue import JobQueue
from pressroom.jobs.store import JobStore
from pressroom.sdk import Job, JobRun
from pressroom.storage.database import SqlDatabase
from pressroom.version import VERSION
from support.commands import Done, run_command, run_forked
from support.databases import KINDS, database_config
from support.notes_plugin import notes_plugin
from support.server import command_environment, serving

UNREACHABLE = "postgresql://pressroom:hunter2@127.0.0.1:1/pressroom"


ALONE = "[plugins.content]\nenabled = false\n"
"""Only the host's tables; those of the content plugin would add nothing to these tests."""


class Operator:
    """Runs the command with a configuration file in a folder."""

    def __init__(self, folder: Path, storage: dict[str, object], kind: str) -> None:
        self.folder = folder
        self.kind = kind
        variables = {"PRESSROOM_STORAGE__DATABASE": str(storage["database"])} if "database" in storage else {}
        self.environment = command_environment(folder, **variables)
        self.environment["PYTHONPATH"] += f":{folder / 'plugins'}"
        self.configure("")

    def configure(self, config: str) -> None:
        (self.folder / "pressroom.toml").write_text(ALONE + config)

    def run(self, *arguments: str) -> Done:
        return run_command(arguments, cwd=self.folder, env=self.environment)

    def run_forked(self, *arguments: str) -> Done:
        return run_forked(arguments, cwd=self.folder, env=self.environment)

    def json(self, *arguments: str) -> tuple[int, Any]:
        result = self.run(*arguments, "--json")
        return result.returncode, json.loads(result.stdout)


@pytest.fixture(params=KINDS)
def operator(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Operator]:
    with database_config(request.param, tmp_path / "data") as storage:
        yield Operator(tmp_path, storage, request.param)


def test_check_then_migrate_then_check(operator: Operator) -> None:
    check = operator.run("migrate", "--check")
    assert check.returncode == 1
    assert "pressroom" in check.stdout
    assert "behind" in check.stdout
    assert "Run `pressroom migrate`" in check.stderr
    assert not (operator.folder / "data" / "pressroom.sqlite").exists()

    result = operator.run("migrate")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1].split() == ["pressroom", "none", "0007", "migrated"]

    code, document = operator.json("migrate", "--check")
    assert (code, document["ok"]) == (0, True)
    assert [(plugin["plugin"], plugin["result"]) for plugin in document["plugins"]] == [("pressroom", "up to date")]


def test_two_concurrent_migrations(operator: Operator) -> None:
    with ThreadPoolExecutor() as pool:
        completed = list(pool.map(lambda _: operator.run_forked("migrate", "--json"), range(2)))
    assert [result.returncode for result in completed] == [0, 0]
    results = sorted(json.loads(result.stdout)["plugins"][0]["result"] for result in completed)
    assert results == ["migrated", "up to date"]


def test_a_plugin_whose_migration_fails_is_named(operator: Operator) -> None:
    notes_plugin(operator.folder / "plugins", failing=True)
    operator.configure("[plugins.notes]\n")
    code, document = operator.json("migrate")
    assert (code, document["ok"]) == (1, False)
    assert [(plugin["plugin"], plugin["result"]) for plugin in document["plugins"]] == [
        ("pressroom", "migrated"),
        ("notes", "failed"),
    ]
    for_people = operator.run("migrate")
    assert for_people.returncode == 1
    assert "a migration of notes failed and was undone: RuntimeError: half-way" in for_people.stderr
    assert "Traceback" not in for_people.stderr
    assert for_people.stdout.splitlines()[2].split() == ["notes", "none", "notes1", "failed"]


def test_the_revision_of_tables_that_stay_behind_is_shown(operator: Operator) -> None:
    notes_plugin(operator.folder / "plugins")
    versions = operator.folder / "plugins/acme_notes/migrations/versions"
    operator.configure("[plugins.notes]\n")
    assert operator.run("migrate").returncode == 0
    newer = "revision = '0002'\ndown_revision = 'notes1'\n"
    (versions / "0002.py").write_text(f"{newer}def upgrade():\n    raise RuntimeError('half-way')\n")
    failed = operator.run("migrate")
    assert failed.stdout.splitlines()[2].split() == ["notes", "notes1", "0002", "failed"]
    assert "half-way (0002.py, line 4)" in failed.stderr

    (versions / "0002.py").write_text(f"{newer}def upgrade():\n    pass\n")
    assert operator.run("migrate").returncode == 0
    (versions / "0002.py").unlink()
    older = operator.run("migrate", "--check")
    assert older.stdout.splitlines()[2].split() == ["notes", "0002", "notes1", "failed"]
    assert "Run `pressroom migrate`" not in older.stderr

    (versions / "0001.py").write_text("raise ValueError('no')\n")
    assert operator.run("migrate").stdout.splitlines()[2].split() == ["notes", "unknown", "failed"]


def test_doctor_reports_pending_migrations(operator: Operator) -> None:
    code, document = operator.json("doctor")
    rows = {row["check"]: row for row in document["checks"]}
    if operator.kind == "sqlite":
        assert (code, rows["database"]["status"]) == (0, "ok")
        assert "does not exist yet" in rows["database"]["message"]
    else:
        assert (code, rows["database"]["status"]) == (1, "ok")
        assert rows["tables of pressroom"]["status"] == "error"
        assert rows["tables of pressroom"]["hint"] == "run `pressroom migrate`"
    assert operator.run("migrate").returncode == 0
    _, document = operator.json("doctor")
    rows = {row["check"]: row for row in document["checks"]}
    assert rows["tables of pressroom"]["message"] == "up to date, revision 0007"


async def enqueue(operator: Operator, *kinds: str) -> None:
    """Add a job of each kind, and one of the period."""
    database = SqlDatabase(load(operator.folder / "pressroom.toml", operator.environment).settings)
    await database.open()
    try:
        jobs = [Job(kind, never_run) for kind in kinds]
        for job in jobs:
            await JobQueue(database, jobs).enqueue(job.kind, {})
        await JobStore(database, 60).add_periods([Job("content.tidy", never_run, every=60)])
    finally:
        await database.close()


async def never_run(_run: JobRun) -> None: ...


def test_doctor_reports_jobs_that_no_active_plugin_runs(operator: Operator) -> None:
    operator.configure("[plugins.seo]\nenabled = false\n")
    assert operator.run("migrate").returncode == 0
    asyncio.run(enqueue(operator, "content.publish", "content.publish", "content.sync", "acme.mail", "account.old"))
    code, document = operator.json("doctor")
    rows = sorted((row["message"], row["hint"]) for row in document["checks"] if row["check"] == "jobs")
    unless = "unless another server runs them; `pressroom jobs discard KIND` discards those that you do not need"
    assert code == 0
    assert rows == [
        (
            f"1 job cannot run: account {VERSION} does not run account.old",
            f"install the version of account that queued them, {unless}",
        ),
        (
            "1 job cannot run: no active plugin runs acme.mail",
            f"install and enable the plugin, {unless}",
        ),
        (
            "3 jobs cannot run, since the plugin content is not active: content.publish, content.sync",
            f"set enabled = true in [plugins.content], {unless}",
        ),
    ]


def test_waiting_jobs_are_listed_and_discarded_by_kind(operator: Operator) -> None:
    operator.configure("[plugins.seo]\nenabled = false\n")
    assert operator.run("migrate").returncode == 0
    asyncio.run(enqueue(operator, "acme.mail", "acme.mail", "acme.sms"))
    jobs = operator.json("jobs", "list")[1]["jobs"]
    counts = {job["kind"]: (job["waiting"], job["running"], job["plugin"]) for job in jobs}
    assert (counts["acme.mail"], counts["acme.sms"]) == ((2, 0, None), (1, 0, None))
    assert operator.run("jobs", "discard", "acme.mail").stdout == "Discarded 2 jobs of acme.mail.\n"
    assert [job["kind"] for job in operator.json("jobs", "list")[1]["jobs"]] == ["acme.sms", "content.tidy"]
    messages = [row["message"] for row in operator.json("doctor")[1]["checks"] if row["check"] == "jobs"]
    assert messages == ["1 job cannot run: no active plugin runs acme.sms"]
    refused = operator.run("jobs", "discard", "acme.mail")
    assert (refused.returncode, "there is no unfinished job of the kind 'acme.mail'" in refused.stderr) == (1, True)


def test_a_running_job_is_not_discarded(operator: Operator) -> None:
    assert operator.run("migrate").returncode == 0
    asyncio.run(enqueue(operator, "acme.mail", "acme.mail"))
    asyncio.run(lease(operator, "acme.mail"))
    assert operator.json("jobs", "discard", "acme.mail")[1] == {"kind": "acme.mail", "discarded": 1, "running": 1}
    left = {job["kind"]: (job["waiting"], job["running"]) for job in operator.json("jobs", "list")[1]["jobs"]}
    assert left["acme.mail"] == (0, 1)


def test_jobs_of_an_active_plugin_are_discarded_only_with_force(operator: Operator) -> None:
    notes_plugin(operator.folder / "plugins")
    operator.configure("[plugins.notes]\n")
    assert operator.run("migrate").returncode == 0
    asyncio.run(enqueue(operator, "notes.shout"))
    refused = operator.run("jobs", "discard", "notes.shout")
    assert (refused.returncode, "since the active plugin notes runs them" in refused.stderr) == (1, True)
    assert operator.run("jobs", "discard", "notes.shout", "--force").stdout == "Discarded 1 job of notes.shout.\n"


async def lease(operator: Operator, kind: str) -> None:
    """Take a job of a kind, as a process does that runs it."""
    database = SqlDatabase(load(operator.folder / "pressroom.toml", operator.environment).settings)
    await database.open()
    try:
        assert await JobStore(database, 60).claim({kind: Job(kind, never_run)})
    finally:
        await database.close()


def test_doctor_reports_accounts_on_a_plan_that_is_not_defined(operator: Operator) -> None:
    assert operator.run("migrate").returncode == 0
    for name in ("ada", "bob"):
        assert operator.run("users", "add", f"{name}@example.org").returncode == 0
    operator.configure('[accounts]\ndefault_plan = "basic"\n[plans.basic]\n')
    assert operator.run("users", "set-plan", "bob@example.org", "basic").returncode == 0
    _, document = operator.json("doctor")
    (warning,) = (row for row in document["checks"] if row["check"] == "accounts" and row["status"] == "warning")
    assert warning["message"].startswith("the plan 'free' of 1 account is not defined")
    assert "define [plans.free]" in warning["hint"]
    operator.configure("")
    assert operator.run("users", "set-plan", "bob@example.org", "free").returncode == 0
    _, document = operator.json("doctor")
    assert [row["status"] for row in document["checks"] if row["check"] == "accounts"] == ["ok"]


def test_serve_requires_a_migrated_shared_database(operator: Operator) -> None:
    if operator.kind == "postgresql":
        refused = operator.run_forked("serve", "--port", "0")
        assert refused.returncode == 1
        assert "Error: the tables of pressroom in PostgreSQL at" in refused.stderr
        assert "run `pressroom migrate`" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert operator.run("migrate").returncode == 0
    database = operator.environment.get("PRESSROOM_STORAGE__DATABASE")
    with serving(operator.folder, ALONE, {"PRESSROOM_STORAGE__DATABASE": database} if database else {}) as server:
        assert server.terminate() == 0
    events = [json.loads(line) for line in server.log.splitlines()]
    migrated = [(event["plugin"], event["revision"]) for event in events if event["event"] == "tables migrated"]
    assert migrated == ([("pressroom", "0007")] if operator.kind == "sqlite" else [])
    assert not [event for event in events if str(event.get("logger", "")).startswith(("alembic", "sqlalchemy"))]


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("migrate",), ("migrate", "--check"), ("doctor",)])
def test_a_database_that_cannot_be_reached(command: tuple[str, ...], tmp_path: Path) -> None:
    operator = Operator(tmp_path, {"database": UNREACHABLE}, "postgresql")
    run = operator.run_forked if "serve" in command else operator.run
    result = run(*command)
    everything = result.stdout + result.stderr
    assert result.returncode == 1
    assert everything.count("PostgreSQL at 127.0.0.1:1 is unavailable: ") == 1
    assert "check [storage] database" in everything
    assert "hunter2" not in everything
    assert "Traceback" not in everything


def test_doctor_names_combinations_of_shared_and_local(tmp_path: Path) -> None:
    operator = Operator(tmp_path, {"database": UNREACHABLE}, "postgresql")
    _, document = operator.json("doctor")
    warnings = [row["message"] for row in document["checks"] if row["status"] == "warning"]
    # On a busy machine plugins may be slow to import, which causes a warning as well.
    assert [text for text in warnings if "import took" not in text] == [
        "the database is shared, but files are kept in a folder of this host",
        "the database is shared, but limits and the cache are kept in the memory of this process",
        "the database is shared, but secret_key is not set, so this host generates its own",
    ]
