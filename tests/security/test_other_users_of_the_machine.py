"""Local attackers who plant files where the server writes, commands read, or plugins are loaded."""

from __future__ import annotations

import fcntl
import grp
import json
import os
import pwd
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pressroom.cli import installing
from pressroom.cli.weak_settings import weaknesses
from pressroom.config import Settings
from pressroom.host.loaded_app import LoadedApp
from pressroom.host.server_status import FOLDER, ServerStatusFile, running_servers
from pressroom.plugins.folder import writable_by_others
from pressroom.storage.data_folder import changeable_by_others

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes are of POSIX")


def compiled(data: Path) -> LoadedApp:
    settings = SimpleNamespace(storage=SimpleNamespace(path=data), public_url="http://127.0.0.1:8000")
    gate = SimpleNamespace(failures={}, latest={}, on_failure=None)
    return cast("LoadedApp", SimpleNamespace(settings=settings, gate=gate, plugins=SimpleNamespace(records=[])))


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return the path of this process's status file."""
    (tmp_path / FOLDER).mkdir()
    return tmp_path / FOLDER / f"{socket.gethostname()}-{os.getpid()}.json"


@pytest.mark.parametrize("make", [os.symlink, os.link])
async def test_a_planted_link_does_not_redirect_the_servers_writes(tmp_path: Path, planted: Path, make: Any) -> None:
    victim = tmp_path / "secret.key"
    victim.write_text("a key of the server")
    make(victim, planted)
    status = ServerStatusFile(compiled(tmp_path), "1")
    status.open()
    status.write()
    status.close()
    assert victim.read_text() == "a key of the server"


async def test_a_planted_pipe_does_not_stop_the_server(tmp_path: Path, planted: Path) -> None:
    os.mkfifo(planted)
    status = ServerStatusFile(compiled(tmp_path), "1")
    status.open()
    status.close()
    assert list(running_servers(tmp_path)) == []


async def test_the_servers_own_status_is_read(tmp_path: Path) -> None:
    status = ServerStatusFile(compiled(tmp_path), "1")
    status.open()
    [server] = running_servers(tmp_path)
    assert server.pid == os.getpid()
    status.close()
    assert list(running_servers(tmp_path)) == []


@pytest.mark.parametrize("content", ["[" * 1_000_000, "[]", json.dumps({"plugins": [1]}), "{" + " " * 5_000_000 + "}"])
def test_no_planted_status_stops_a_command(tmp_path: Path, planted: Path, content: str) -> None:
    planted.write_text(content)
    (tmp_path / FOLDER / "linked.json").symlink_to("/dev/zero")
    with planted.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert list(running_servers(tmp_path)) == []


def test_every_file_that_others_may_change_is_reported_and_the_server_runs(tmp_path: Path) -> None:
    plugins = tmp_path / "shared" / "plugins"
    (plugins / "mine" / "inner").mkdir(parents=True)
    for name in ("one.py", "mine/__init__.py", "mine/inner/work.py"):
        (plugins / name).write_text("")
    assert list(writable_by_others(plugins)) == []
    (plugins / "mine" / "inner" / "work.py").chmod(0o666)
    (tmp_path / "shared").chmod(0o777)
    assert list(writable_by_others(plugins)) == [plugins / "mine" / "inner" / "work.py", tmp_path / "shared"]
    (tmp_path / "shared").chmod(0o1777)
    assert list(writable_by_others(plugins)) == [plugins / "mine" / "inner" / "work.py"]


@pytest.fixture
def branding(tmp_path: Path) -> Settings:
    """Return settings with templates and a style sheet that nobody else can modify."""
    templates = tmp_path / "look" / "templates"
    (templates / "static").mkdir(parents=True)
    (templates / "base.html").write_text("")
    (templates / "static" / "wave.svg").write_text("")
    (tmp_path / "look" / "shop.css").write_text("")
    for path in (tmp_path / "look", *(tmp_path / "look").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    stylesheet = tmp_path / "look" / "shop.css"
    return Settings.model_validate({"branding": {"templates": str(templates), "stylesheet": str(stylesheet)}})


def test_templates_and_a_style_sheet_that_others_may_change_are_reported(branding: Settings, tmp_path: Path) -> None:
    assert list(weaknesses(branding)) == []
    (tmp_path / "look" / "templates" / "base.html").chmod(0o646)
    (tmp_path / "look" / "templates" / "static").chmod(0o777)
    (tmp_path / "look" / "shop.css").chmod(0o666)
    templates, stylesheet = weaknesses(branding)
    folder = tmp_path / "look" / "templates"
    assert templates.message.startswith(
        f"[branding] templates: other users of this machine may write to {folder / 'base.html'} and 1 more: "
    )
    assert templates.hint == f"run: chown -R {os.geteuid()} {folder} && chmod -R go-w {folder}"
    subprocess.run(["sh", "-c", templates.hint.removeprefix("run: ")], check=True)
    assert list(weaknesses(branding)) == [stylesheet]
    assert stylesheet.status == "warning"
    assert f"{tmp_path / 'look' / 'shop.css'}: what they put there is on the server's pages" in stylesheet.message


def test_a_folder_above_the_templates_that_others_may_change_is_named_with_another_remedy(
    branding: Settings, tmp_path: Path
) -> None:
    (tmp_path / "look").chmod(0o777)
    templates, stylesheet = weaknesses(branding)
    assert f"may write to {tmp_path / 'look'}: " in templates.message
    assert templates.hint.startswith(f"move {tmp_path / 'look' / 'templates'} to a folder above which only root")
    assert stylesheet.hint.startswith(f"move {tmp_path / 'look' / 'shop.css'} to a folder above which only root")
    (tmp_path / "look").chmod(0o1777)
    assert list(weaknesses(branding)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_templates_of_another_user_or_of_a_group_with_other_members_are_named(
    branding: Settings, tmp_path: Path
) -> None:
    base = tmp_path / "look" / "templates" / "base.html"
    os.chown(base, 54_321, -1)
    assert [weakness.status for weakness in weaknesses(branding)] == ["warning"]
    somebody = next(user for user in pwd.getpwall() if user.pw_uid != 0 and user.pw_gid != 0)
    os.chown(base, 0, somebody.pw_gid)
    assert list(weaknesses(branding)) == []
    base.chmod(0o664)
    assert [weakness.status for weakness in weaknesses(branding)] == ["warning"]
    os.chown(base, 0, 0)
    assert list(weaknesses(branding)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_group_of_root_counts_if_it_has_other_members(
    branding: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "look" / "templates" / "base.html"
    base.chmod(0o664)
    assert list(weaknesses(branding)) == []
    # The groups of this machine cannot be changed for a test, and what is known of them is remembered for a user.
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group(("root", "x", gid, ["root", "ada"])))
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    (weakness,) = weaknesses(branding)
    assert f"may write to {base}" in weakness.message


def test_missing_templates_are_not_a_weakness(tmp_path: Path) -> None:
    missing = {"templates": str(tmp_path / "gone"), "stylesheet": str(tmp_path / "gone.css")}
    assert list(weaknesses(Settings.model_validate({"branding": missing}))) == []


def test_a_data_folder_created_by_somebody_else_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not changeable_by_others(tmp_path)
    tmp_path.chmod(0o1777)
    assert changeable_by_others(tmp_path)
    tmp_path.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(tmp_path, 54_321, -1)
        assert not changeable_by_others(tmp_path)
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)
        assert changeable_by_others(tmp_path)


def test_modules_in_the_current_folder_are_not_run_when_plugins_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "pip", "importlib"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert "pressroom-content" in installing.packages_now()
    with pytest.raises(installing.InstallFailed):
        installing.install(["./missing"])
    assert not (tmp_path / "ran").exists()
