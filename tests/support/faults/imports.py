"""Plugins that fail before any of their hooks is inspected: at discovery, selection, import and configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pressroom.plugins.discovery import Phase

from support.installing import install
from support.plugin_source import HEAD, SHOUT, Distribution, Expected, Factory, fault, install_plugin

# The helper shows whether modules of a failing package remain imported.
_START: Final = "import acme_$id.helper\n" + HEAD

_AT_IMPORT: Final = (
    fault(
        "import_error",
        "import",
        ("ModuleNotFoundError: No module named 'no_such_module_anywhere'", "(plugin.py, line 8)"),
        ("reinstall or upgrade acme-import-error", "enabled = false in [plugins.import_error]"),
        _START + "import no_such_module_anywhere\n",
    ),
    fault(
        "wrong_sdk_name",
        "import",
        "ImportError: cannot import name 'Authentikator' from 'pressroom.sdk'",
        "did you mean Authenticator?",
        "from pressroom.sdk import Authentikator\n",
    ),
    fault(
        "result_without_annotation",
        "import",
        "TypeError: count: annotate what it returns, such as `-> int` or a pydantic model (plugin.py, line 8)",
        "reinstall",
        _START + "@mcp_tool\nasync def count(text: str): ...\n",
    ),
    fault("system_exit", "import", "SystemExit: 3 (plugin.py, line 8)", "reinstall", _START + "raise SystemExit(3)\n"),
    fault(
        "exit_without_code",
        "import",
        "SystemExit (plugin.py, line 8)",
        "reinstall",
        _START + "raise SystemExit(None)\n",
    ),
    fault(
        "syntax_error",
        "import",
        "SyntaxError: '(' was never closed (plugin.py, line 8)",
        "reinstall",
        _START + "broken = (1,\n",
    ),
    fault(
        "indentation_error",
        "import",
        ("IndentationError: expected an indented block", "(plugin.py, line 9)"),
        "reinstall",
        _START + "def broken():\npass\n",
    ),
    fault("not_utf8", "import", ("SyntaxError: ", "plugin.py, line 1"), "reinstall", b"title = '\xe4'\n"),
    fault("null_bytes", "import", "null bytes", "reinstall", b"title = '\x00'\n"),
    fault(
        "many_lines",
        "import",
        "ValueError: first line second line third line (plugin.py, line 8)",
        "reinstall",
        _START + "raise ValueError('first line\\n\\n  second line\\r\\nthird line\\n')\n",
    ),
    fault("long_message", "import", "ValueError: xxx", "reinstall", _START + "raise ValueError('x' * 1_000_000)\n"),
    fault(
        "unreadable_message",
        "import",
        "Unreadable: its text cannot be read, ZeroDivisionError (plugin.py, line 13)",
        "reinstall",
        _START
        + """
class Unreadable(Exception):
    def __str__(self):
        return str(1 / 0)

raise Unreadable
""",
    ),
    fault(
        "unreadable_error_of_host",
        "import",
        "cannot be read",
        "reinstall",
        _START
        + """
class Unreadable(PressroomError):
    def __init__(self):
        pass

    def __str__(self):
        return None

raise Unreadable
""",
    ),
    fault(
        "exception_group",
        "import",
        "BaseExceptionGroup: both: SystemExit: 1; ValueError: two (plugin.py, line 8)",
        "reinstall",
        _START + "raise BaseExceptionGroup('both', [SystemExit(1), ValueError('two')])\n",
    ),
    fault(
        "cancelled",
        "import",
        "CancelledError (plugin.py, line 8)",
        "reinstall",
        _START + "raise __import__('asyncio').CancelledError\n",
    ),
    fault(
        "endless_recursion",
        "import",
        "RecursionError: ",
        "reinstall",
        _START + "def again():\n    again()\n\nagain()\n",
    ),
    fault(
        "no_plugin", "import", "acme_no_plugin.plugin has no PLUGIN", 'Plugin(id="no_plugin"', _START + "del PLUGIN\n"
    ),
    fault("plugin_is_text", "import", "has no PLUGIN", "PLUGIN = Plugin(", _START + "PLUGIN = 'plugin_is_text'\n"),
    fault(
        "id_mismatch",
        "import",
        ("has the id 'another'", "entry point is named 'id_mismatch'"),
        "same name",
        _START.replace('id="$id"', 'id="another"'),
    ),
    fault(
        "plugin_of_rubbish",
        "import",
        ("PLUGIN: title must be str, not int 3", "requires must be tuple[str, ...], not str 'qr'", "config must be"),
        "correct PLUGIN",
        _START + "PLUGIN = Plugin(id='$id', title=3, summary='', requires='qr', config=BaseModel)\n",
    ),
    fault(
        "api_too_new",
        "compatible",
        "it is written for plugin API 2, this host offers 1",
        "upgrade pressroom",
        _START.replace('summary="For tests."', 'summary="For tests.", api="2"'),
        status="incompatible",
    ),
    fault(
        "host_too_old",
        "compatible",
        ("acme-host-too-old 1.0 needs pressroom >=99, this is ",),
        "install a version of the plugin that is made for this host",
        "raise AssertionError('must not be imported')",
        status="incompatible",
        requires=("pydantic", "Pressroom[redis]>=99; python_version >= '3'", "pressroom<0; python_version < '3'"),
    ),
)

_CONFIG: Final = (
    HEAD
    + """
class Config(PluginConfig):
    volume: int = Field(5, ge=0, le=10, description="How loud.")
    colour: Literal["red", "green"] = Field("red", description="Which colour.")

PLUGIN = Plugin(id="$id", title="$id", summary="For tests.", config=Config)
"""
    + SHOUT
)

_AT_CONFIG: Final = (
    fault(
        "bad_config",
        "config",
        "plugins.bad_config.config.volume: must be between 0 and 10 (got 11)",
        ("correct [plugins.bad_config.config]", "pressroom config show --origin"),
        _CONFIG,
        config={"volume": 11},
    ),
    fault(
        "unknown_setting",
        "config",
        "plugins.unknown_setting.config.volum: unknown field; did you mean volume?",
        "correct [plugins.unknown_setting.config]",
        _CONFIG,
        config={"volum": 1},
    ),
    fault(
        "two_bad_settings",
        "config",
        ('config.colour: must be one of red, green (got "blue")', "config.volume: must be between 0 and 10 (got -1)"),
        "correct [plugins.two_bad_settings.config]",
        _CONFIG,
        config={"volume": -1, "colour": "blue"},
    ),
    fault(
        "takes_no_config",
        "config",
        "plugins.takes_no_config.config: this plugin has no settings",
        "Remove the table",
        HEAD + SHOUT,
        config={"volume": 1},
    ),
    fault(
        "config_check_fails",
        "config",
        "KeyError: 'nothing' (plugin.py, line 15)",
        "correct [plugins.config_check_fails.config]",
        HEAD
        + """
from pydantic import field_validator

class Config(PluginConfig):
    volume: int = 1

    @field_validator("volume")
    @classmethod
    def check(cls, value): return {}["nothing"]

PLUGIN = Plugin(id="$id", title="$id", summary="For tests.", config=Config)
"""
        + SHOUT,
        config={"volume": 3},
    ),
)


def _no_module_name(folder: Path) -> Distribution:
    install(folder, "acme-no-module-name", {}, {"no_module_name": "not a module!"})
    error, hint = "its entry point 'not a module!' names no module", 'no_module_name = "package.module"'
    return _described(Distribution(folder, {"no_module_name": {}}), "import", error, hint)


def _module_is_gone(folder: Path) -> Distribution:
    installed = install_plugin(folder, "module_is_gone")
    (folder / "acme_module_is_gone" / "plugin.py").unlink()
    error = "ModuleNotFoundError: No module named 'acme_module_is_gone.plugin'"
    return _described(installed, "import", error, "reinstall or upgrade acme-module-is-gone")


def _reserved_id(folder: Path) -> Distribution:
    expected = Expected(
        "pressroom",
        "incompatible",
        "compatible",
        ("the id 'pressroom' is reserved for the host",),
        ("tell the plugin's authors",),
    )
    installed = install_plugin(folder, "pressroom", name="acme-reserved-id")
    return Distribution(folder, installed.plugins, installed.packages, (expected,))


def _damaged_metadata(folder: Path) -> Distribution:
    installed = install_plugin(folder, "damaged_metadata")
    (folder / "acme_damaged_metadata-1.0.dist-info" / "METADATA").unlink()
    hint = "reinstall the package that holds acme_damaged_metadata.plugin"
    return _described(installed, "discover", "the metadata of its package cannot be read", hint)


def _not_installed(folder: Path) -> Distribution:
    plugins = {"qr_code_generatr": {"required": True}}
    error, hint = "no installed package offers it", "did you mean 'qr_code_generator'?"
    return _described(Distribution(folder, plugins), "discover", error, hint)


def _other_distribution(folder: Path) -> Distribution:
    installed = install_plugin(folder, "other_distribution")
    plugins = {"other_distribution": {"distribution": "acme-other-distributions"}}
    error = "the configuration picks the distribution 'acme-other-distributions', which does not offer it"
    hint = "did you mean 'acme-other-distribution'?"
    return _described(Distribution(folder, plugins, installed.packages), "select", error, hint)


def _two_distributions(folder: Path) -> Distribution:
    names, id_ = ("acme-first", "zeta-second"), "two_distributions"
    for name in names:
        install_plugin(folder, id_, name=name)
    error = "acme-first and zeta-second both offer the id 'two_distributions'"
    hints = [("uninstall one of them", f'distribution = "{name}" in [plugins.{id_}]') for name in names]
    expected = tuple(Expected(id_, "conflict", "select", (error,), hint) for hint in hints)
    return Distribution(folder, {id_: {}}, ("acme_first", "zeta_second"), expected)


def _described(installed: Distribution, phase: Phase, error: str, hint: str) -> Distribution:
    (id_,) = installed.plugins
    expected = Expected(id_, "broken", phase, (error,), (hint,))
    return Distribution(installed.folder, installed.plugins, installed.packages, (expected,))


FAULTS: Final[dict[str, Factory]] = {
    **dict(_AT_IMPORT),
    **dict(_AT_CONFIG),
    "no_module_name": _no_module_name,
    "module_is_gone": _module_is_gone,
    "reserved_id": _reserved_id,
    "damaged_metadata": _damaged_metadata,
    "not_installed": _not_installed,
    "other_distribution": _other_distribution,
    "two_distributions": _two_distributions,
}
