"""Archives that are damaged, truncated or malicious."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.databases import database_config

from .conftest import MakePlace, Place

Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def place(make_place: MakePlace) -> Place:
    return make_place("sqlite")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A backup of a server with one person, which each test damages in its own way."""
    folder = tmp_path_factory.mktemp("sound")
    with database_config("sqlite", folder / "data") as storage:
        source = Place(folder, "sqlite", storage)
        source.json("users", "add", "ada@example.org")
        (source.data / "secret.key").write_text("5a" * 32 + "\n")
        source.json("backup", str(folder / "backup.tar"))
        yield folder / "backup.tar"


@pytest.fixture
def archive(sound: Path, tmp_path: Path) -> Path:
    """A copy of that archive for one test."""
    return Path(shutil.copy(sound, tmp_path))


def rewrite(archive: Path, change: Callable[[Members, dict[str, Any]], object]) -> None:
    """Rewrite the archive after `change` has modified its members and manifest."""
    with tarfile.open(archive) as tar:
        entries = [(member, tar.extractfile(member)) for member in tar.getmembers()]
        members = [(member, file.read()) for member, file in entries if file is not None]
    manifest = json.loads(members.pop()[1])
    change(members, manifest)
    members.append((tarfile.TarInfo("manifest.json"), json.dumps(manifest).encode()))
    with tarfile.open(archive, "w") as tar:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(content))


def add(members: Members, manifest: dict[str, Any], name: str, content: bytes = b"evil") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    members.append((member, content))
    digest = hashlib.sha256(content).hexdigest()
    manifest["files"].append({"name": name, "size": len(content), "sha256": digest})
    return member


@pytest.mark.parametrize(
    "name",
    [
        "data/files/../../../evil",
        "data/plugins/../../evil",
        "../evil",
        "/tmp/evil",
        "data/pressroom.sqlite",
        "data/files/a\\..\\evil",
        "data/files//evil",
        "data/files/./evil",
        "data/secret.key/evil",
        "data/.restore/ready",
        "data/files/evil\n",
        "evil",
    ],
)
def test_a_path_outside_the_archive_is_refused(archive: Path, place: Place, name: str) -> None:
    rewrite(archive, lambda members, manifest: add(members, manifest, name))
    assert "does not belong to a backup" in place.refusal("restore", str(archive))
    assert not place.data.exists()
    assert not [path for path in place.folder.parent.rglob("*") if "evil" in path.name]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_only_regular_files_are_accepted(archive: Path, place: Place, kind: bytes) -> None:
    def change(members: Members, manifest: dict[str, Any]) -> None:
        member = add(members, manifest, "data/files/qr/a.png", b"")
        member.type, member.linkname = kind, "/etc/passwd"

    rewrite(archive, change)
    assert "does not belong to a backup" in place.refusal("restore", str(archive))
    assert not place.data.exists()


def test_a_duplicate_file_is_refused(archive: Path, place: Place) -> None:
    rewrite(archive, lambda members, _: members.append(members[0]))
    assert "does not belong to a backup" in place.refusal("restore", str(archive))


def test_a_file_that_the_manifest_does_not_list_is_refused(archive: Path, place: Place) -> None:
    rewrite(archive, lambda members, _: members.append((tarfile.TarInfo("data/files/a/b.png"), b"content")))
    assert "data/files/a/b.png is not as manifest.json lists it" in place.refusal("restore", str(archive))


def test_a_missing_file_is_refused(archive: Path, place: Place) -> None:
    rewrite(archive, lambda members, _: members.clear())
    assert "is not as manifest.json lists it" in place.refusal("restore", str(archive))


def test_a_changed_byte_is_detected_and_nothing_is_changed(archive: Path, place: Place) -> None:
    content = bytearray(archive.read_bytes())
    content[40_000] ^= 1
    archive.write_bytes(content)
    refusal = place.refusal("restore", str(archive))
    assert "the checksum of database/pressroom.sqlite is wrong" in refusal
    assert "Nothing was changed" in refusal
    assert not place.data.exists()


@pytest.mark.parametrize("part", [0, 0.001, 0.5, 0.95])
def test_a_truncated_archive_is_refused(archive: Path, place: Place, part: float) -> None:
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * part)])
    assert "cannot be restored" in place.refusal("restore", str(archive))
    assert not place.data.exists()


def test_a_file_that_is_not_an_archive_is_refused(archive: Path, place: Place) -> None:
    archive.write_bytes(b"SQLite format 3\0" + bytes(9000))
    assert "cannot be restored" in place.refusal("restore", str(archive))
    assert "cannot be read" in place.refusal("restore", str(archive.with_name("other.tar")))


@pytest.mark.parametrize("manifest", [b"{", b"[]", b"{}", b'{"format": 1}', b"\xff"])
def test_an_unreadable_manifest_is_refused(archive: Path, place: Place, manifest: bytes) -> None:
    with tarfile.open(archive, "w") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(manifest)
        tar.addfile(member, io.BytesIO(manifest))
    assert "manifest.json cannot be read" in place.refusal("restore", str(archive))


def test_a_backup_of_a_newer_version_is_refused(archive: Path, place: Place) -> None:
    rewrite(archive, lambda _, manifest: manifest["revisions"].update({"pressroom": "9999"}))
    refusal = place.refusal("restore", str(archive))
    assert "9999" in refusal
    assert "or newer" in refusal
    rewrite(archive, lambda _, manifest: manifest.update(format=2))
    assert "a format that this version does not know" in place.refusal("restore", str(archive))
    assert not place.data.exists()


def test_tables_of_a_missing_plugin_are_reported(archive: Path, place: Place) -> None:
    rewrite(archive, lambda _, manifest: manifest["revisions"].update({"word_cloud": "0001"}))
    assert "word_cloud" in place.json("restore", str(archive))["warnings"][0]
    assert [user["email"] for user in place.json("users", "list")["users"]] == ["ada@example.org"]
