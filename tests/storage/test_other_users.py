"""Another user of the machine, who looks into the data folder."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pressroom.storage.files.local import LocalFileStore
from pressroom.storage.files.signing import UrlSigner
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.commands import run_command
from support.content_client import client_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Set the usual umask, so that only the server's own restrictions keep others out."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def opened(folder: Path) -> list[str]:
    """Return the paths with any permission for group or others."""
    return [str(path) for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077]


def test_another_user_cannot_read_anything_of_a_new_server(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    with RunningHost(settings_for_test({"plugins": {"content": {}}}, data)) as host:
        response = httpx.post(f"{host.url}/tools/qr-code-generator/api/generate", json={"text": "x"})
        assert response.status_code == 200, response.text
        client_of(host, "ada@example.org").data("connect_website", platform="builtin", name="Mine")
        assert [path for path in data.rglob("*") if path.parent.parent.name == "files"]
        assert opened(data) == []


async def test_another_user_cannot_read_the_files_of_an_earlier_version(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "files"
    (folder / "tool").mkdir(parents=True)
    (folder / "tool" / "1.png").write_bytes(b"old")
    store = LocalFileStore(folder, UrlSigner(b"sixteen bytes or more"), "http://127.0.0.1")
    await store.open()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert await store.read("tool/1.png") == b"old"
    await store.close()
    # A permission that the operator gave to a group is kept.
    folder.chmod(0o750)
    await store.open()
    await store.close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750


def test_a_data_folder_that_others_may_enter_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    config = tmp_path / "pressroom.toml"
    config.write_text('[storage]\npath = "data"\n')
    for mode, status in ((0o755, "warning"), (0o701, "warning"), (0o750, "ok"), (0o700, "ok")):
        (tmp_path / "data").chmod(mode)
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        result = run_command(["doctor", "--json", "--config", str(config)], cwd=tmp_path, env=environment)
        (check,) = [check for check in json.loads(result.stdout)["checks"] if check["check"] == "data folder"]
        assert check["status"] == status, mode
        if status == "warning":
            assert "chmod o=" in check["hint"]
