"""`pressroom backup` and `pressroom restore`, run by operators."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom_content.vault import Vault
from support.commands import Done, run_command, run_forked
from support.content_client import Client, client_of, content_of
from support.disks import run_on_small_disk
from support.members import invite, make_member, switch
from support.people import BrowserWithoutScreen, add_person
from support.server import command_environment

from .conftest import MakePlace, Place

pytestmark = pytest.mark.services

CREDENTIAL = {"token": "the password of a website"}


def article(client: Client, number: int) -> str:
    body = "Leaves fall in autumn. " * 40
    return str(client.data("create_content", title=f"Article {number}", body=body)["content_id"])


def serve(place: Place) -> RunningHost:
    if place.kind == "postgresql":
        place.migrate()
    return RunningHost(place.settings())


def image(host: RunningHost, text: str) -> httpx.Response:
    body = {"text": text, "response": "binary"}
    return httpx.post(f"{host.url}/tools/qr-code-generator/api/generate", json=body, timeout=60)


def seed(place: Place) -> None:
    """Add an account, keys and a stored file to a place."""
    with serve(place) as host:
        client_of(host, "ada@example.org")
        assert image(host, "hello").status_code == 200
        Vault.of(content_of(host)).seal(CREDENTIAL, "w_1")


def test_a_backup_during_writes_restores_a_working_server_elsewhere(make_place: MakePlace, kind: str) -> None:
    source, target = make_place(kind), make_place(kind)
    archive = source.folder / "backup.tar"
    written: list[str] = []
    failures: list[Exception] = []
    enough, stop = threading.Event(), threading.Event()

    def write(client: Client) -> None:
        try:
            while not stop.is_set():
                written.append(article(client, len(written)))
                if len(written) == 5:
                    enough.set()
        except Exception as error:  # noqa: BLE001 - reported by the test's own thread
            failures.append(error)
            enough.set()

    with serve(source) as host:
        ada = client_of(host, "ada@example.org")
        sealed = Vault.of(content_of(host)).seal(CREDENTIAL, "w_1")
        content = image(host, "hello").content
        owner, bob, eve = (add_person(host, f"{name}@example.org") for name in ("owner", "bob", "eve"))
        make_member(host, owner, bob, "editor")
        invitation = invite(host, owner, "reader")
        writer = threading.Thread(target=write, args=(ada,))
        writer.start()
        enough.wait(60)
        before = list(written)
        # In a separate process, as alongside a running server: SQLite's locks are per process.
        environment = command_environment(source.folder, **_environment_of(source))
        (source.folder / "pressroom.toml").write_text("[plugins.content]\n")
        result = run_forked(["backup", str(archive)], cwd=source.folder, env=environment)
        stop.set()
        writer.join(60)
    assert not failures
    assert (result.returncode, result.stdout.count("\n")) == (0, 1), result
    assert len(before) >= 5

    restored = target.json("restore", str(archive))
    assert restored["warnings"] == []
    assert {path.stat().st_mode & 0o077 for path in target.data.rglob("*")} == {0}
    with serve(target) as host:
        restored_ada = Client(host, ada.user_id, ada.connection, ada.key)
        assert all("Leaves fall" in json.dumps(restored_ada.data("get_content", content_id=id_)) for id_ in before)
        assert article(restored_ada, 1)
        assert Vault.of(content_of(host)).open(sealed, "w_1") == CREDENTIAL
        response = image(host, "hello")
        assert response.content == content
        with BrowserWithoutScreen(host) as browser:
            browser.enter(host, bob)
            assert "editor" in switch(browser, owner).text
        with BrowserWithoutScreen(host) as browser:
            browser.enter(host, eve)
            assert browser.submit(browser.get(invitation), invitation).status == 200
        assert len(host.run(host.host.accounts.memberships.of_account(owner.id))) == 2
    files = {path.name for path in (target.data / "files").rglob("*.*") if path.is_file()}
    assert files


def _environment_of(place: Place) -> dict[str, str]:
    return {"PRESSROOM_STORAGE__DATABASE": place.storage["database"]} if "database" in place.storage else {}


def test_only_its_owner_can_read_a_backup_and_nothing_else_is_left(make_place: MakePlace, kind: str) -> None:
    place = make_place(kind)
    seed(place)
    folder = place.folder / "backups"
    folder.mkdir()
    report = place.json("backup", str(folder))
    (archive,) = folder.iterdir()
    assert report["path"] == str(archive)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with tarfile.open(archive) as tar:
        names = set(tar.getnames())
        assert tar.getmembers()[-1].name == "manifest.json"
    assert {"data/secret.key", "data/plugins/content/credentials.key"} <= names
    assert any(name.startswith("data/files/qr-code-generator/") for name in names)
    assert not any(".tmp" in name for name in names)
    assert {"pressroom", "content"} <= report["revisions"].keys()


def test_files_can_be_left_out(make_place: MakePlace) -> None:
    source, target = make_place("sqlite"), make_place("sqlite")
    seed(source)
    archive = source.folder / "backup.tar"
    report = source.json("backup", str(archive), "--no-files")
    assert any("--no-files" in text for text in report["not_included"])
    target.json("restore", str(archive))
    assert not (target.data / "files").exists()
    assert (target.data / "secret.key").read_bytes() == (source.data / "secret.key").read_bytes()


def test_a_bucket_is_reported_as_not_in_the_backup(make_place: MakePlace) -> None:
    place = make_place("sqlite")
    seed(place)
    environment = command_environment(place.folder, PRESSROOM_STORAGE__FILES="s3://my-bucket/pressroom")
    result = run_forked(["backup", "backup.tar"], cwd=place.folder, env=environment)
    assert result.returncode == 0
    assert "s3://my-bucket/pressroom" in result.stderr
    with tarfile.open(place.folder / "backup.tar") as tar:
        assert not any(name.startswith("data/files/") for name in tar.getnames())


def test_force_does_not_replace_files_other_than_backups(make_place: MakePlace) -> None:
    place = make_place("sqlite")
    with serve(place):
        pass
    before = place.contents()
    for path in (place.data / "pressroom.sqlite", place.data / "secret.key"):
        assert "is a part of the server's data" in place.refusal("backup", str(path), "--force")
    assert place.contents() == before
    # Devices, which root could replace, are recognised in the same way.
    pipe = place.folder / "pipe"
    os.mkfifo(pipe)
    assert "pipe is not a file" in place.refusal("backup", str(pipe), "--force")
    assert pipe.is_fifo()


def test_existing_files_are_replaced_only_on_request(make_place: MakePlace, kind: str) -> None:
    source, target = make_place(kind), make_place(kind)
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    archive.write_text("another file")
    assert "exists" in source.refusal("backup", str(archive))
    assert archive.read_text() == "another file"
    source.json("backup", str(archive), "--force")

    with serve(target) as host:
        client_of(host, "eve@example.org")
        assert image(host, "other").status_code == 200
    before = target.contents()
    assert "--force" in target.refusal("restore", str(archive))
    assert target.contents() == before
    assert _accounts(target) == ["eve@example.org"]

    target.json("restore", str(archive), "--force")
    assert _accounts(target) == ["ada@example.org"]
    restored = {name for name in target.contents() if name.startswith("files/")}
    assert restored == {name for name in source.contents() if name.startswith("files/")}
    assert not (target.data / ".restore").exists()


def _accounts(place: Place) -> list[str]:
    return [user["email"] for user in place.json("users", "list")["users"]]


def test_a_running_server_keeps_its_database(make_place: MakePlace) -> None:
    source, target = make_place("sqlite"), make_place("sqlite")
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    with serve(target) as host:
        client_of(host, "eve@example.org")
        environment = command_environment(target.folder)
        result = run_forked(["restore", str(archive), "--force"], cwd=target.folder, env=environment)
        assert result.returncode == 1
        assert "is in use" in result.stderr
        assert "Stop the server" in result.stderr
        assert host.run(host.host.accounts.users.by_email("eve@example.org"))


def test_a_check_changes_nothing(make_place: MakePlace, kind: str) -> None:
    source, target = make_place(kind), make_place(kind)
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    document = target.json("restore", str(archive), "--check")
    assert (document["ok"], document["restored"], document["database"]) == (True, False, kind)
    assert not target.data.exists()


def test_a_backup_of_the_other_database_is_refused(make_place: MakePlace) -> None:
    source, target = make_place("sqlite"), make_place("postgresql")
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    refusal = target.refusal("restore", str(archive))
    assert "SQLite" in refusal
    assert "PostgreSQL" in refusal


def test_an_sqlite_file_elsewhere_is_backed_up_and_not_restored_to_the_wrong_path(make_place: MakePlace) -> None:
    source, target = make_place("sqlite"), make_place("sqlite")
    elsewhere = source.folder / "accounts.sqlite"
    environment = command_environment(source.folder, PRESSROOM_STORAGE__DATABASE=f"sqlite:///{elsewhere}")

    def run(*arguments: str) -> Done:
        return run_command([*arguments, "--json"], cwd=source.folder, env=environment)

    assert run("users", "add", "ada@example.org").returncode == 0
    assert run("backup", "backup.tar").returncode == 0
    refused = run("restore", "backup.tar", "--force")
    assert refused.returncode == 1
    assert "Leave [storage] database out" in refused.stdout
    target.json("restore", str(source.folder / "backup.tar"))
    assert _accounts(target) == ["ada@example.org"]


def test_a_secret_key_that_is_not_restored_is_reported(make_place: MakePlace) -> None:
    source, target = make_place("sqlite"), make_place("sqlite")
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    environment = command_environment(target.folder, PRESSROOM_SECRET_KEY="another secret key of a server")
    result = run_forked(["restore", str(archive), "--json"], cwd=target.folder, env=environment)
    assert result.returncode == 0
    assert "secret_key" in json.loads(result.stdout)["warnings"][-1]


def test_a_restore_removes_tables_that_the_backup_does_not_have(make_place: MakePlace) -> None:
    source, target = make_place("postgresql"), make_place("postgresql")
    archive = source.folder / "backup.tar"
    source.migrate()
    source.json("backup", str(archive))
    _psql(target, "CREATE TABLE accounting (number integer)")
    assert "accounting" in target.refusal("restore", str(archive), "--force")
    assert _psql(target, "SELECT count(*) FROM accounting") == "0"


def _psql(place: Place, statement: str) -> str:
    program = shutil.which("psql")
    assert program
    command = [program, place.storage["database"], "--tuples-only", "--no-align", "--command", statement]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def test_client_programs_that_are_too_old_are_named(make_place: MakePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_place("postgresql")
    place.migrate()
    old = place.folder / "bin"
    old.mkdir()
    (old / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n")
    (old / "pg_dump").chmod(0o755)
    monkeypatch.setattr("pressroom.backup.databases._DEBIAN_PROGRAMS", place.folder)
    monkeypatch.setenv("PATH", str(old))
    refusal = place.refusal("backup", str(place.folder / "backup.tar"))
    assert "the newest pg_dump here is 9" in refusal
    assert "postgresql-client-" in refusal
    assert not list(place.folder.glob("*.tar*"))


def test_nothing_is_left_of_a_backup_that_fills_the_disk(tmp_path: Path) -> None:
    run_on_small_disk("backup_on_full_disk", tmp_path / "disk", size="1200k")


def test_a_restore_that_fills_the_disk_changes_nothing(tmp_path: Path) -> None:
    run_on_small_disk("restore_on_full_disk", tmp_path / "disk", size="1200k")


KILLED = """
import os, sys
from pathlib import Path
from pressroom.storage.data_folder import PreparedRestore, finish_prepared, restore_lock

folder, left, on_a_server = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "postgresql"

def watch(event, arguments):
    global left
    if event in ("os.rename", "os.rmdir", "os.mkdir") and str(folder) in str(arguments[0]) or event == "os.remove":
        left -= 1
        if left < 0:
            os._exit(9)

sys.addaudithook(watch)
with restore_lock(folder):
    prepared = PreparedRestore(folder)
    prepared.begin()
    (prepared.new / "pressroom.sqlite").write_text("new")
    (prepared.new / "secret.key").write_text("new")
    (prepared.new / "plugins").mkdir()
    (prepared.new / "plugins" / "key").write_text("new")
    if on_a_server:
        prepared.database_begins()
    prepared.commit()
    finish_prepared(folder)
"""

FINISHED = """
import sys
from pathlib import Path
from pressroom.storage.data_folder import finish_restore

finish_restore(Path(sys.argv[1]))
"""


def test_a_killed_restore_leaves_the_old_data_or_the_new(tmp_path: Path, kind: str) -> None:
    old = {"pressroom.sqlite": "old", "pressroom.sqlite-wal": "old", "secret.key": "old", "plugins/key": "old"}
    new = {"pressroom.sqlite": "new", "secret.key": "new", "plugins/key": "new"}
    outcomes = []
    for steps in range(30):
        folder = tmp_path / str(steps)
        (folder / "plugins").mkdir(parents=True)
        for name, content in old.items():
            (folder / name).write_text(content)
        code = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(steps), kind], check=False).returncode
        finished = subprocess.run([sys.executable, "-c", FINISHED, str(folder)], check=False, capture_output=True)
        files = (path for path in folder.rglob("*") if path.is_file() and ".restore" not in path.parts)
        outcomes.append({str(path.relative_to(folder)): path.read_text() for path in files})
        # Without its data folder, a server database may already be the restored one.
        assert finished.returncode == 0 or (kind == "postgresql" and outcomes[-1] == old), finished
        if code == 0:
            break
        assert code == 9
    assert outcomes[0] == old
    assert outcomes[-1] == new
    turn = outcomes.index(new)
    assert outcomes == [old] * turn + [new] * (len(outcomes) - turn)
    assert len(outcomes) - turn > 5


def test_a_server_does_not_start_on_a_database_that_was_restored_without_its_keys(make_place: MakePlace) -> None:
    source, target = make_place("postgresql"), make_place("postgresql")
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    (target.data / ".restore").mkdir(parents=True)
    (target.data / ".restore" / "database").touch()
    assert "interrupted" in target.refusal("users", "list")
    target.json("restore", str(archive), "--force")
    assert _accounts(target) == ["ada@example.org"]


def test_a_restore_says_when_only_the_database_was_restored(make_place: MakePlace) -> None:
    source, target = make_place("postgresql"), make_place("postgresql")
    seed(source)
    archive = source.folder / "backup.tar"
    source.json("backup", str(archive))
    (target.data / ".restore").mkdir(parents=True)
    (target.data / ".restore" / "ready").symlink_to("missing/file")  # the restored data cannot be marked as valid
    refusal = target.refusal("restore", str(archive), "--force")
    assert "the database was restored, the data folder was not" in refusal
    (target.data / ".restore" / "ready").unlink()
    assert "interrupted" in target.refusal("users", "list")
    target.json("restore", str(archive), "--force")
    assert _accounts(target) == ["ada@example.org"]
