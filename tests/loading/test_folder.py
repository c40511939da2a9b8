"""Single-file plugins in the operator's plugin folder."""

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
from support.plugin_source import SHOUT, SOUND, filled, install_plugin
from support.server import serving


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "plugins"
    folder.mkdir()
    before = list(sys.path), set(sys.modules)
    yield folder
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


def write(folder: Path, name: str, id_: str = "", module: str = SOUND) -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(filled(module, id_ or Path(name).stem))
    return file


def records(compiled: Any) -> dict[str, PluginRecord]:
    return {record.distribution: record for record in compiled.plugins.records if not record.builtin}


def test_a_file_in_the_folder_is_a_plugin_without_configuration(folder: Path, compile_with: Compile) -> None:
    write(folder, "one_file_shout.py")
    compiled = compile_with(plugins_dir=str(folder))
    record = records(compiled)["one_file_shout.py"]
    assert (record.id, record.status, record.title) == ("one_file_shout", "active", "The plugin one_file_shout")
    assert record.folder == str(folder)
    assert "one-file-shout" in compiled.catalog.tools


def test_the_version_changes_with_the_content(folder: Path, compile_with: Compile) -> None:
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
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert [(record.id, record.status) for record in plugin_records.values()] == [(name, "active")]


def test_the_id_comes_from_the_plugin_not_the_file(folder: Path, compile_with: Compile) -> None:
    write(folder, "named_otherwise.py", "word_cloud")
    (record,) = records(compile_with(plugins_dir=str(folder), plugins={"word_cloud": {"required": True}})).values()
    assert (record.id, record.status, record.required) == ("word_cloud", "active", True)


def test_a_disabled_file_is_never_run(folder: Path, compile_with: Compile) -> None:
    marker = folder / "was-run"
    write(folder, "one_file_off.py", module=f"open({str(marker)!r}, 'w').close()\n{SOUND}")
    compiled = compile_with(plugins_dir=str(folder), plugins={"one_file_off": {"enabled": False}})
    assert records(compiled)["one_file_off.py"].status == "disabled"
    assert not marker.exists()


def test_modules_starting_with_an_underscore_can_be_imported_by_plugins(folder: Path, compile_with: Compile) -> None:
    write(folder, "_folder_words.py", module="LOUD = str.upper\n")
    write(folder, "one_file_importing.py", module=f"from _folder_words import LOUD\n{SOUND}")
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert [(record.id, record.status) for record in plugin_records.values()] == [("one_file_importing", "active")]


@pytest.mark.parametrize(
    ("name", "module", "error", "hint"),
    [
        ("one_file_bad.py", "def (", "SyntaxError: invalid syntax (one_file_bad.py, line 1)", "correct "),
        ("one_file_null.py", "\0", "", "correct "),
        ("one_file_bare.py", "import os\n", "one_file_bare.py has no PLUGIN, no hook and no tool", "put @mcp_tool or "),
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
            "its PLUGIN has the id 'another_id', which cannot be read from one_file_hidden.py without running it",
            'write id="another_id" as a plain string in the call of Plugin, or name the file another_id.py',
        ),
    ],
)
def test_problems_of_a_file_are_reported_and_the_others_continue(
    folder: Path, compile_with: Compile, name: str, module: str, error: str, hint: str
) -> None:
    write(folder, name, Path(name).stem.replace("-", "_"), module)
    write(folder, "one_file_sound.py")
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert plugin_records["one_file_sound.py"].status == "active"
    record = plugin_records[name]
    assert record.status == "broken"
    assert record.error.startswith(error)
    assert record.hint.startswith(hint)


DECORATED = '''"""Arithmetic for AI clients,
done with care.

It adds.
"""

from pressroom.sdk import *
from pydantic import Field


@mcp_tool
async def $id(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b
'''


def test_a_file_with_a_decorated_function_is_a_plugin(folder: Path, compile_with: Compile) -> None:
    write(folder, "decorated_sums.py", module=DECORATED)
    write(folder, "decorated_undocumented.py", module=DECORATED.partition('"""\n\n')[2])
    compiled = compile_with(plugins_dir=str(folder))
    first, second = records(compiled).values()
    assert (first.id, first.status, first.api, first.warnings) == ("decorated_sums", "active", "1", ())
    assert (first.title, first.summary) == ("Decorated sums", "Arithmetic for AI clients, done with care.")
    assert first.contributes == ("tool decorated_sums",)
    assert (second.title, second.summary) == ("Decorated undocumented", "Decorated undocumented")


def test_a_hook_alone_decides_which_tools_of_its_kind_are_offered(folder: Path, compile_with: Compile) -> None:
    nothing = "\n\n@hookimpl\ndef pressroom_mcp_tools():\n    return []\n"
    write(folder, "decorated_hooked.py", module=f"{DECORATED}{nothing}{SHOUT}")
    (record,) = records(compile_with(plugins_dir=str(folder))).values()
    assert (record.status, record.contributes) == ("active", ("generator decorated-hooked",))


def test_a_declared_plugin_needs_no_hook_for_its_tools(folder: Path, compile_with: Compile) -> None:
    declaration = "\nPLUGIN = Plugin(id='declared_tools', title='Tools', summary='For tests.')\n"
    write(folder, "decorated_declared.py", module=f"{DECORATED}{declaration}{SHOUT.partition('@hookimpl')[0]}")
    (record,) = records(compile_with(plugins_dir=str(folder))).values()
    assert (record.id, record.title, record.api) == ("declared_tools", "Tools", "1")
    assert record.contributes == ("generator decorated-declared", "tool decorated_declared")


@pytest.mark.parametrize(
    ("name", "module", "error", "hint"),
    [
        (
            "decorated_idle.py",
            "import pressroom.sdk\n",
            "decorated_idle.py has no PLUGIN, no hook and no tool",
            "put @mcp",
        ),
        (
            "decorated_private.py",
            f"{DECORATED}\n_kept = decorated_private\ndel decorated_private\n",
            "decorated_private.py has no PLUGIN, no hook and no tool",
            "put @mcp_tool or @generator above a function",
        ),
        (
            "decorated_borrowed.py",
            "import pressroom.sdk\nfrom one_file_sound import shout\n",
            "decorated_borrowed.py has no PLUGIN, no hook and no tool",
            "put @mcp_tool or @generator above a function",
        ),
        (
            "decorated_unmarked.py",
            f"{DECORATED}\ndef pressroom_checks():\n    return []\n",
            "pressroom_checks is not marked as a hook",
            "put @hookimpl above it",
        ),
        (
            "decorated_lower_case.py",
            f"{DECORATED}\nplugin = Plugin(id='shoes', title='Shoes', summary='')\n",
            "its Plugin is named plugin",
            "name it PLUGIN",
        ),
        (
            "decorated_exits.py",
            f"{DECORATED}\nraise SystemExit(3)",
            "SystemExit: 3 (decorated_exits.py",
            "correct deco",
        ),
        (
            "decorated_untyped.py",
            DECORATED.replace("a: int", "a"),
            "TypeError: decorated_untyped: annotate a with its type (decorated_untyped.py",
            "correct decorated_untyped.py",
        ),
        (
            "decorated_plain.py",
            DECORATED.replace("async def", "def"),
            'tool decorated_plain: executor \'async\' needs an async function; use executor="process" or "thread"',
            "correct decorated_plain.py",
        ),
        (
            "Decorated.py",
            DECORATED,
            "its id would be 'Decorated', which must be 2 to 32 lower-case letters, digits and underscores",
            "rename it, or give it a PLUGIN",
        ),
        ("x.py", DECORATED, "its id would be 'x', which must be 2 to 32 lower-case", "rename it, or give it a PLUGIN"),
        ("my tool.py", DECORATED, "my tool.py is not a name that Python can import", "rename it to my_tool.py"),
        ("pressroom.py", DECORATED, "pressroom.py has the name of another module, ", "rename it"),
        (
            "qr_code_generator.py",
            DECORATED,
            "pressroom-qr-code-generator, which is built in, offers the id 'qr_code_generator' too",
            "choose another id",
        ),
    ],
)
def test_problems_of_a_file_without_a_declaration_are_reported(
    folder: Path, compile_with: Compile, name: str, module: str, error: str, hint: str
) -> None:
    write(folder, name, module=module.replace("$id", Path(name).stem.replace(" ", "_")))
    write(folder, "one_file_sound.py")
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert plugin_records["one_file_sound.py"].status == "active"
    record = plugin_records[name]
    assert (record.status in ("broken", "conflict"), record.contributes) == (True, ())
    assert record.error.startswith(error)
    assert record.hint.startswith(hint)


def test_two_files_with_the_same_tool_conflict(folder: Path, compile_with: Compile) -> None:
    write(folder, "decorated_one.py", "same_sums", DECORATED)
    write(folder, "decorated_two.py", "same_sums", DECORATED)
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert {(record.status, record.contributes) for record in plugin_records.values()} == {("conflict", ())}
    assert plugin_records["decorated_one.py"].error == "the tool name same_sums is offered by decorated_two too"


def test_a_package_offers_the_tools_of_modules_it_imports(folder: Path, compile_with: Compile) -> None:
    write(folder, "decorated_package/__init__.py", module="from .sums import *\n")
    write(folder, "decorated_package/sums.py", "package_sums", DECORATED)
    write(folder, "decorated_package/plugin.py", module="WORDS = 7\n")
    (record,) = records(compile_with(plugins_dir=str(folder))).values()
    assert (record.id, record.status, record.contributes) == ("decorated_package", "active", ("tool package_sums",))


def test_a_file_and_a_folder_of_the_same_name_are_both_refused(folder: Path, compile_with: Compile) -> None:
    write(folder, "folder_twice.py", "first_of_two")
    write(folder, "folder_twice/__init__.py", "second_of_two")
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert {record.status for record in plugin_records.values()} == {"broken"}
    assert {record.error for record in plugin_records.values()} == {
        "folder_twice.py and the folder folder_twice are modules of the same name"
    }


def test_a_conflict_of_two_files_with_one_id_is_resolved_by_the_configuration(
    folder: Path, compile_with: Compile
) -> None:
    write(folder, "rival_a.py", "rivals")
    write(folder, "rival_b.py", "rivals")
    plugin_records = records(compile_with(plugins_dir=str(folder)))
    assert [record.status for record in plugin_records.values()] == ["conflict", "conflict"]
    assert plugin_records["rival_a.py"].error == "rival_a.py and rival_b.py both offer the id 'rivals'"
    assert 'set distribution = "rival_b.py" in [plugins.rivals]' in plugin_records["rival_b.py"].hint
    picked = records(compile_with(plugins_dir=str(folder), plugins={"rivals": {"distribution": "rival_b.py"}}))
    assert [record.status for record in picked.values()] == ["available", "active"]


def test_a_file_cannot_replace_a_built_in_plugin(folder: Path, compile_with: Compile) -> None:
    write(folder, "one_file_qr.py", "qr_code_generator")
    compiled = compile_with(plugins_dir=str(folder))
    statuses = {record.distribution: record.status for record in compiled.plugins.records}
    assert statuses == {"pressroom-qr-code-generator": "active", "one_file_qr.py": "conflict"}
    (failed,) = compiled.plugins.failed
    assert failed.error == "pressroom-qr-code-generator, which is built in, offers the id 'qr_code_generator' too"


def test_a_file_and_a_configured_installed_plugin_conflict(folder: Path, tmp_path: Path, compile_with: Compile) -> None:
    installed = install_plugin(tmp_path / "site", "both_places")
    write(folder, "one_file_both.py", "both_places")
    plugin_records = records(compile_with(installed, plugins_dir=str(folder)))
    assert [record.status for record in plugin_records.values()] == ["conflict", "conflict"]
    assert (
        plugin_records["one_file_both.py"].error
        == "acme-both-places and one_file_both.py both offer the id 'both_places'"
    )


def test_an_unusable_folder_is_reported(tmp_path: Path, compile_with: Compile) -> None:
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


def test_a_file_that_cannot_be_read_is_reported(folder: Path, compile_with: Compile) -> None:
    (folder / "one_file_gone.py").symlink_to(folder / "gone")
    record = records(compile_with(plugins_dir=str(folder)))["one_file_gone.py"]
    assert (record.status, "cannot be read" in record.error) == ("broken", True)


def test_doctor_warns_of_a_folder_that_others_can_write(folder: Path, compile_with: Compile) -> None:
    write(folder, "one_file_open.py").chmod(0o646)
    assert list(writable_by_others(folder)) == [folder / "one_file_open.py"]
    folder.chmod(0o777)
    warned = list(weaknesses(compile_with(plugins_dir=str(folder)).settings))
    assert [
        (warning.status, str(path) in warning.message) for warning, path in zip(warned, (folder, folder), strict=True)
    ] == [
        ("warning", True),
        ("warning", True),
    ]
    assert f"chmod o-w {folder}" in warned[0].hint


def test_worker_processes_run_the_tools_of_a_file(folder: Path, tmp_path: Path) -> None:
    module = SOUND.replace('executor="async"', 'executor="process"').replace("async def", "def")
    write(folder, "one_file_worker.py", module=module)
    with serving(tmp_path / "server", "", {"PRESSROOM_PLUGINS_DIR": str(folder)}) as server:
        response = httpx.post(
            f"{server.url}/tools/one-file-worker/api/generate", json={"text": "hello", "response": "binary"}, timeout=60
        )
        assert (response.status_code, response.text) == (200, "HELLO")
