"""Containment during loading: which exceptions and output get through, and which do not."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pressroom.gate.deadlines import ProcessExit, end_process, no_exit
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.discovery import PluginRecord
from pressroom.plugins.load import load_plugins
from pressroom.testing.plugin import settings_for_test
from support.commands import Done, run_command, run_process
from support.compiling import Compile
from support.installing import install, on_path
from support.plugin_distributions import BROKEN, SLOW_SECONDS, healthy, slow
from support.plugin_source import HEAD, SOUND, Distribution, filled, install_plugin

PRESS = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
CTRL_C = {
    "at_import": f"import acme_at_import.helper\n{PRESS}\n{SOUND}",
    "in_a_group": SOUND
    + f"\n@hookimpl\ndef pressroom_checks():\n    try:\n        {PRESS}\n"
    + "    except KeyboardInterrupt as error:\n        raise BaseExceptionGroup('', [error])\n",
    "in_a_hook": SOUND + f"\n@hookimpl\ndef pressroom_checks():\n    {PRESS}\n",
    "in_a_rule": SOUND
    + f"""
def rule(tool, plan):
    {PRESS}

@hookimpl
def pressroom_rate_limits():
    return [RateLimit("own", rule)]
""",
}
"""Sources of plugins that are interrupted by Ctrl-C at different points."""


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C reach this process and its children; shells make background jobs ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("id_", CTRL_C)
def test_ctrl_c_is_not_a_plugin_failure(id_: str, tmp_path: Path, compile_with: Compile) -> None:
    with pytest.raises(KeyboardInterrupt, match=f"while {id_} was being loaded"):
        compile_with(install_plugin(tmp_path, id_, CTRL_C[id_]))
    assert ("acme_at_import" in sys.modules, "acme_at_import.helper" in sys.modules) == (False, False)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_during_an_import_ends_the_command_and_names_the_plugin(tmp_path: Path) -> None:
    install_plugin(tmp_path, "at_import", CTRL_C["at_import"])
    result = command(tmp_path, "plugins", "list", "--json", plugins="at_import")
    assert result.returncode == 130
    assert json.loads(result.stdout)["error"]["code"] == "interrupted"
    assert "while at_import was being loaded: its import" in json.loads(result.stdout)["error"]["message"]


def command(folder: Path, *arguments: str, plugins: str, run: Callable[..., Done] = run_process) -> Done:
    """Run a command that finds the plugins installed in `folder`; `plugins` is the ID that the configuration lists."""
    (folder / "pressroom.toml").write_text(f"[plugins.{plugins}]\n[storage]\npath = 'data'\n")
    return run(arguments, cwd=folder, env={"PYTHONPATH": str(folder)})


PRINTING = (
    f"print('at import')\n{SOUND}"
    """
class Config(PluginConfig):
    def model_post_init(self, context):
        print("at its configuration")

PLUGIN = Plugin(id="$id", title="Printing", summary="Prints.", config=Config)

@hookimpl
def pressroom_rate_limits():
    print("in a hook")

    def rule(tool, plan):
        print("in a rule")

    yield RateLimit("own", rule)
"""
)


@pytest.mark.parametrize("arguments", [("plugins", "list"), ("doctor",), ("catalog",), ("openapi",)])
def test_output_printed_by_a_plugin_during_loading_is_kept_out_of_json(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    install_plugin(tmp_path, "printing", PRINTING)
    result = command(
        tmp_path, *arguments, "--json", plugins="printing", run=run_process if arguments == ("doctor",) else run_command
    )
    assert result.returncode == 0
    assert "printing" in str(json.loads(result.stdout))
    assert [line for line in result.stderr.splitlines() if line][:4] == [
        "at import",
        "at its configuration",
        "in a hook",
        "in a rule",
    ]


def test_a_plugin_that_replaces_standard_output_is_reverted(tmp_path: Path, compile_with: Compile) -> None:
    before = sys.stdout
    compile_with(install_plugin(tmp_path, "greedy", f"import io, sys; sys.stdout = io.StringIO()\n{SOUND}"))
    assert sys.stdout is before


def test_a_slow_import_is_measured_and_reported(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(slow(tmp_path), healthy(tmp_path))
    records = {record.id: record for record in compiled.plugins.records}
    assert records["slow"].status == "active"
    assert records["slow"].import_seconds >= SLOW_SECONDS
    assert records["slow"].imported_slowly
    assert not records["healthy"].imported_slowly
    assert sorted(compiled.catalog.tools) == ["healthy", "qr-code-generator", "slow"]


def test_the_time_of_a_failed_import_is_measured_too(tmp_path: Path, compile_with: Compile) -> None:
    module = f"import time; time.sleep({SLOW_SECONDS}); raise ValueError\n"
    compiled = compile_with(install_plugin(tmp_path, "slow_and_broken", module))
    assert compiled.plugins.failed[0].import_seconds >= SLOW_SECONDS


def test_loading_twice_in_one_process_has_the_same_result(tmp_path: Path, compile_with: Compile) -> None:
    installed = [healthy(tmp_path), *(factory(tmp_path) for factory in BROKEN.values())]
    first, second = compile_with(*installed), compile_with(*installed)

    def comparable_records(compiled: LoadedApp) -> list[PluginRecord]:
        return [replace(record, import_seconds=0) for record in compiled.plugins.records]

    assert comparable_records(first) == comparable_records(second)
    assert list(first.catalog.tools) == list(second.catalog.tools) == ["healthy", "qr-code-generator"]


def test_a_fixed_plugin_works_the_next_time(tmp_path: Path) -> None:
    settings = settings_for_test({"plugins": {"mended": {}}}, tmp_path / "data")
    installed = install_plugin(tmp_path, "mended", "from acme_mended.helper import missing\n" + SOUND)
    with on_path(installed.folder):
        (record,) = load_plugins(settings).failed
        assert "ImportError: cannot import name 'missing'" in record.error
        helper = tmp_path / "acme_mended" / "helper.py"
        helper.write_text("missing = 'found again'\n")
        os.utime(helper, (1, 1))  # so that the stale bytecode is not taken for current
        assert load_plugins(settings).failed == ()


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("raise ValueError\n", "correct acme-mine in /home/ada/my plugin"),
        (HEAD + "@hookimpl\ndef pressroom_chekcs(): return []\n", "did you mean pressroom_checks?"),
        (HEAD + "@hookimpl\ndef pressroom_checks(): return [1 / 0]\n", "correct acme-mine in /home/ada/my plugin"),
    ],
)
def test_the_message_says_where_to_correct_the_source(
    tmp_path: Path, compile_with: Compile, module: str, advice: str
) -> None:
    installed = install_plugin(tmp_path, "mine", module)
    (metadata,) = tmp_path.glob("acme_mine-*.dist-info")
    recorded = {"url": "file:///home/ada/my%20plugin", "dir_info": {"editable": True}}
    (metadata / "direct_url.json").write_text(json.dumps(recorded))
    (record,) = compile_with(installed).plugins.failed
    assert advice in record.hint
    assert "authors" not in record.hint


def test_module_level_proxies_are_not_touched(tmp_path: Path, compile_with: Compile) -> None:
    module = (
        SOUND
        + """
class Proxy:
    def __getattr__(self, name):
        raise RuntimeError("used outside of a request")

request = Proxy()
"""
    )
    compiled = compile_with(install_plugin(tmp_path, "proxied", module))
    assert compiled.plugins.failed == ()
    assert "proxied" in compiled.catalog.tools


def test_a_plugin_without_hooks_is_active(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(install_plugin(tmp_path, "silent", HEAD))
    record = next(record for record in compiled.plugins.records if record.id == "silent")
    assert (record.status, record.title, record.contributes) == ("active", "The plugin silent", ())


def test_two_plugins_may_share_a_package_although_one_is_broken(tmp_path: Path, compile_with: Compile) -> None:
    shared = "import acme_pair.common\n"
    files = {
        "acme_pair/__init__.py": "",
        "acme_pair/common.py": "",
        "acme_pair/first.py": filled(shared + SOUND, "first") + "raise ValueError\n",
        "acme_pair/second.py": filled(shared + SOUND, "second"),
        "acme_pair/third.py": filled(shared + SOUND, "third") + "raise ValueError\n",
    }
    install(tmp_path, "acme-pair", files, {id_: f"acme_pair.{id_}" for id_ in ("first", "second", "third")})
    compiled = compile_with(Distribution(tmp_path, {"first": {}, "second": {}, "third": {}}))
    assert [record.id for record in compiled.plugins.failed] == ["first", "third"]
    assert "second" in compiled.catalog.tools
    ours = sorted(name for name in sys.modules if name.startswith("acme_pair"))
    assert ours == ["acme_pair", "acme_pair.common", "acme_pair.second"]


def test_two_hosts_that_load_concurrently_restore_os_exit() -> None:
    first, second = no_exit(), no_exit()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    with pytest.raises(ProcessExit, match=r"os\._exit\(3\)"):
        os._exit(3)
    second.__exit__(None, None, None)
    assert os._exit is end_process
