"""Plugins of one file, in the folder that the operator names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.cli.weak_settings import weaknesses
from pressroom.plugins.discovery import PluginRecord
from pressroom.plugins.folder import writable_by_others
from support.compiling import Compile
from support.plugin_source import SOUND, filled, install_plugin
from support.server import serving


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "plugins"
    made.mkdir()
    before = list(sys.path), set(sys.modules)
    yield made
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(made)):
            del sys.modules[name]


def write(folder: Path, name: str, id_: str = "", module: str = SOUND) -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(filled(module, id_ or Path(name).stem))
    return file


def records(compiled: Any) -> dict[str, PluginRecord]:
    return {record.distribution: record for record in compiled.plugins.records if not record.builtin}


def test_a_file_in_the_folder_is_a_plugin_without_being_named(folder: Path, compile_with: Compile) -> None:
    write(folder, "one_file_shout.py")
    compiled = compile_with(plugins_dir=str(folder))
    record = records(compiled)["one_file_shout.py"]
    assert (record.id, record.status, record.title) == ("one_file_shout", "active", "The plugin one_file_shout")
    assert record.folder == str(folder)
    assert "one-file-shout" in compiled.catalog.tools


def test_its_version_changes_with_its_content_so_that_no_old_result_is_served(
    folder: Path, compile_with: Compile
) -> None:
    file = write(folder, "one_file_edited.py")
    first = records(compile_with(plugins_dir=str(folder)))["one_file_edited.py"].version
    file.write_text(f"{file.read_text()}# more\n")
    assert records(compile_with(plugins_dir=str(folder)))["one_file_edited.py"].version != first


@pytest.mark.parametrize("inner", ["__init__.py", "plugin.py"])
def test_a_package_in_the_folder_is_a_plugin_too(folder: Path, compile_with: Compile, inner: str) -> None:
    name = f"folder_package_{inner.strip('_').partition('.')[0].rstrip('_')}"
    write(folder, f"{name}/__init__.py", module="")
    write(folder, f"{name}/{inner}", name)
    (folder / "data").mkdir()
    found = records(compile_with(plugins_dir=str(folder)))
    assert [(one.id, one.status) for one in found.values()] == [(name, "active")]


def test_the_id_is_that_of_the_plugin_rather_than_of_the_file(folder: Path, compile_with: Compile) -> None:
    write(folder, "named_otherwise.py", "word_cloud")
    (record,) = records(compile_with(plugins_dir=str(folder), plugins={"word_cloud": {"required": True}})).values()
    assert (record.id, record.status, record.required) == ("word_cloud", "active", True)


def test_a_file_that_is_switched_off_is_never_run(folder: Path, compile_with: Compile) -> None:
    marker = folder / "was-run"
    write(folder, "one_file_off.py", module=f"open({str(marker)!r}, 'w').close()\n{SOUND}")
    compiled = compile_with(plugins_dir=str(folder), plugins={"one_file_off": {"enabled": False}})
    assert records(compiled)["one_file_off.py"].status == "disabled"
    assert not marker.exists()


def test_modules_that_begin_with_an_underscore_are_for_the_plugins_to_import(
    folder: Path, compile_with: Compile
) -> None:
    write(folder, "_folder_words.py", module="LOUD = str.upper\n")
    write(folder, "one_file_importing.py", module=f"from _folder_words import LOUD\n{SOUND}")
    found = records(compile_with(plugins_dir=str(folder)))
    assert [(one.id, one.status) for one in found.values()] == [("one_file_importing", "active")]


@pytest.mark.parametrize(
    ("name", "module", "error", "hint"),
    [
        ("one_file_bad.py", "def (", "SyntaxError: invalid syntax (one_file_bad.py, line 1)", "correct "),
        ("one_file_null.py", "\0", "", "correct "),
        ("one_file_bare.py", "import os\n", "one_file_bare.py has no PLUGIN", 'add PLUGIN = Plugin(id="one_file_bare"'),
        ("my-tool.py", SOUND, "my-tool.py is not a name that Python can import", "rename it to my_tool.py"),
        ("json.py", SOUND, "json.py has the name of another module, json of Python itself", "rename it"),
        ("httpx.py", SOUND, "httpx.py has the name of another module, ", "rename it"),
        (
            "one_file_raising.py",
            f"{SOUND}\n1 / 0",
            "ZeroDivisionError: division by zero (one_file_",
            "correct one_file_",
        ),
        (
            "one_file_hidden.py",
            SOUND.replace('id="$id"', 'id="another_" + "id"'),
            "its PLUGIN has the id 'another_id', which one_file_hidden.py tells only when it is run",
            'write id="another_id" in the call of Plugin, or name the file another_id.py',
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_and_the_others_continue(
    folder: Path, compile_with: Compile, name: str, module: str, error: str, hint: str
) -> None:
    write(folder, name, Path(name).stem.replace("-", "_"), module)
    write(folder, "one_file_sound.py")
    found = records(compile_with(plugins_dir=str(folder)))
    assert found["one_file_sound.py"].status == "active"
    record = found[name]
    assert record.status == "broken"
    assert record.error.startswith(error)
    assert record.hint.startswith(hint)


def test_a_file_and_a_folder_of_the_same_name_are_both_refused(folder: Path, compile_with: Compile) -> None:
    write(folder, "folder_twice.py", "first_of_two")
    write(folder, "folder_twice/__init__.py", "second_of_two")
    found = records(compile_with(plugins_dir=str(folder)))
    assert {one.status for one in found.values()} == {"broken"}
    assert {one.error for one in found.values()} == {
        "folder_twice.py and the folder folder_twice are modules of the same name"
    }


def test_two_files_with_one_id_are_a_conflict_that_the_configuration_settles(
    folder: Path, compile_with: Compile
) -> None:
    write(folder, "rival_a.py", "rivals")
    write(folder, "rival_b.py", "rivals")
    found = records(compile_with(plugins_dir=str(folder)))
    assert [one.status for one in found.values()] == ["conflict", "conflict"]
    assert found["rival_a.py"].error == "rival_a.py and rival_b.py both offer the id 'rivals'"
    assert 'set distribution = "rival_b.py" in [plugins.rivals]' in found["rival_b.py"].hint
    picked = records(compile_with(plugins_dir=str(folder), plugins={"rivals": {"distribution": "rival_b.py"}}))
    assert [one.status for one in picked.values()] == ["available", "active"]


def test_a_file_takes_nothing_from_a_built_in_plugin(folder: Path, compile_with: Compile) -> None:
    write(folder, "one_file_qr.py", "qr_code_generator")
    compiled = compile_with(plugins_dir=str(folder))
    statuses = {one.distribution: one.status for one in compiled.plugins.records}
    assert statuses == {"pressroom-qr-code-generator": "active", "one_file_qr.py": "conflict"}
    (failed,) = compiled.plugins.failed
    assert failed.error == "pressroom-qr-code-generator, which is built in, offers the id 'qr_code_generator' too"


def test_a_file_and_an_installed_plugin_that_is_named_are_a_conflict(
    folder: Path, tmp_path: Path, compile_with: Compile
) -> None:
    installed = install_plugin(tmp_path / "site", "both_places")
    write(folder, "one_file_both.py", "both_places")
    found = records(compile_with(installed, plugins_dir=str(folder)))
    assert [one.status for one in found.values()] == ["conflict", "conflict"]
    assert found["one_file_both.py"].error == "acme-both-places and one_file_both.py both offer the id 'both_places'"


def test_a_folder_that_cannot_be_used_is_a_finding_of_its_own(tmp_path: Path, compile_with: Compile) -> None:
    (tmp_path / "file").touch()
    cases = {
        tmp_path / "gone": "there is no folder ",
        tmp_path / "file": f"{tmp_path / 'file'} is not a folder",
        tmp_path / "data" / "plugins": f"{tmp_path / 'data' / 'plugins'} and the data folder ",
        tmp_path: f"{tmp_path} and the data folder ",
    }
    (tmp_path / "data" / "plugins").mkdir(parents=True)
    for path, error in cases.items():
        (record,) = records(compile_with(plugins_dir=str(path))).values()
        assert (record.id, record.status, record.phase) == ("plugins_dir", "broken", "discover")
        assert record.error.startswith(error)
        assert record.hint


def test_a_file_that_cannot_be_read_is_said_so(folder: Path, compile_with: Compile) -> None:
    (folder / "one_file_gone.py").symlink_to(folder / "gone")
    record = records(compile_with(plugins_dir=str(folder)))["one_file_gone.py"]
    assert (record.status, "cannot be read" in record.error) == ("broken", True)


def test_doctor_warns_of_what_others_may_change(folder: Path, compile_with: Compile) -> None:
    write(folder, "one_file_open.py").chmod(0o646)
    assert list(writable_by_others(folder)) == [folder / "one_file_open.py"]
    folder.chmod(0o777)
    warned = list(weaknesses(compile_with(plugins_dir=str(folder)).settings))
    assert [(one.status, str(path) in one.message) for one, path in zip(warned, (folder, folder), strict=True)] == [
        ("warning", True),
        ("warning", True),
    ]
    assert f"chmod o-w {folder}" in warned[0].hint


def test_worker_processes_run_the_tools_of_a_file(folder: Path, tmp_path: Path) -> None:
    module = SOUND.replace('executor="async"', 'executor="process"').replace("async def", "def")
    write(folder, "one_file_worker.py", module=module)
    with serving(tmp_path / "server", "", {"PRESSROOM_PLUGINS_DIR": str(folder)}) as server:
        answer = httpx.post(
            f"{server.url}/tools/one-file-worker/api/generate", json={"text": "hello", "response": "binary"}, timeout=60
        )
        assert (answer.status_code, answer.text) == (200, "HELLO")
