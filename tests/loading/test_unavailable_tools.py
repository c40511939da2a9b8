"""Unavailable tools: without the configuration it needs, a tool is not listed, and the reason is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressroom.cli import main
from support.compiling import Compile, record_of, statuses
from support.installing import on_path
from support.plugin_distributions import Distribution
from support.plugin_source import SOUND, install_plugin

TOOLS = """
class Config(PluginConfig):
    key: str = ""

PLUGIN = Plugin(id="$id", title="Words", summary="Counts.", config=Config)

class Count(BaseModel):
    words: int

def needs_a_key(plugin: PluginContext) -> Any:
    return REASON

@mcp_tool(name="count", title="Count", description="Counts words.", unavailable=needs_a_key)
async def count(params: TextParams, call: Call) -> Count: ...

@mcp_tool(name="guess", title="Guess", description="Guesses words.")
async def guess(params: TextParams, call: Call) -> Count: ...

@hookimpl
def pressroom_mcp_tools():
    return [count, guess]
"""

NEEDS_A_KEY = '"" if plugin.config.key else "the operator has\\n not set  key"'


def counting(folder: Path, reason: str = NEEDS_A_KEY) -> Distribution:
    return install_plugin(folder, "words", SOUND + TOOLS.replace("REASON", reason))


def test_an_unavailable_tool_is_not_listed(tmp_path: Path, compile_with: Compile) -> None:
    catalog = compile_with(counting(tmp_path)).catalog

    assert dict(catalog.unavailable) == {"count": "the operator has not set key"}
    assert "count" not in catalog.tools
    assert set(catalog.plans["free"].mcp_tools) & {"count", "guess"} == {"guess"}
    summary = catalog.summary("free")
    assert (summary.unavailable_tools["count"], "count" in summary.hidden_tools) == (
        "the operator has not set key",
        False,
    )


def test_a_tool_is_listed_once_the_operator_has_configured_it(tmp_path: Path, compile_with: Compile) -> None:
    catalog = compile_with(counting(tmp_path), plugins={"words": {"config": {"key": "k"}}}).catalog

    assert dict(catalog.unavailable) == {}
    assert {"count", "guess"} <= set(catalog.plans["free"].mcp_tools)


def test_a_disabled_tool_has_no_reason(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(counting(tmp_path), tools={"count": {"enabled": False}})

    assert dict(compiled.catalog.unavailable) == {}
    assert "count" not in compiled.catalog.tools
    assert compiled.catalog.warnings == ()


def test_settings_under_the_old_name_of_a_tool_apply_to_it(tmp_path: Path, compile_with: Compile) -> None:
    source = TOOLS.replace("REASON", '""').replace('name="guess",', 'name="guess", aliases=("estimate",),')
    plugin = install_plugin(tmp_path, "words", SOUND + source)
    off = compile_with(plugin, tools={"estimate": {"enabled": False}})
    assert not {"guess", "estimate"} & set(off.catalog.mcp_tools)
    assert off.catalog.warnings == ("tools.estimate: 'estimate' is an alias of 'guess'",)

    plans = {"free": {"tools": ["estimate"], "rate_limits": {"estimate": "5/hour"}}}
    catalog = compile_with(plugin, plans=plans).catalog
    assert set(catalog.plans["free"].mcp_tools) == {"guess"}
    assert catalog.warnings == (
        "plans.free.rate_limits.estimate: has no effect; the name to use here is 'guess'",
        "plans.free.tools: 'estimate' is an alias of 'guess'",
    )

    both = compile_with(plugin, tools={"estimate": {"enabled": False}, "guess": {"enabled": True}})
    assert "guess" in both.catalog.mcp_tools


def test_an_mcp_name_without_effect_is_reported(tmp_path: Path, compile_with: Compile) -> None:
    plugin = install_plugin(
        tmp_path, "sound", SOUND.replace('produces=("text/plain",)', 'mcp=Mcp("utter"), produces=("text/plain",)')
    )
    plans = {"free": {"rate_limits": {"utter": "5/hour"}}}
    catalog = compile_with(plugin, plans=plans, tools={"utter": {"cache_seconds": 0}}).catalog
    assert catalog.warnings == (
        "plans.free.rate_limits.utter: has no effect; the name to use here is 'sound'",
        "tools.utter.cache_seconds: has no effect; the name to use here is 'sound'",
    )
    assert compile_with(plugin, tools={"utter": {"enabled": False}}).catalog.warnings == ()


def test_a_default_plan_that_nobody_defined_is_reported(compile_with: Compile) -> None:
    plans = {"basic": {"tools": ["qr-code-generator"]}}
    (warning,) = compile_with(accounts={"default_plan": "basci"}, plans=plans).catalog.warnings
    assert "without [plans.basci], new accounts have every tool and no quotas; did you mean 'basic'?" in warning
    assert compile_with(accounts={"default_plan": "basic"}, plans=plans).catalog.warnings == ()
    assert compile_with(plans=plans).catalog.warnings == ()


def test_explain_gives_the_operator_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "pressroom.toml"
    config.write_text(f'[plugins.words]\n[storage]\npath = "{tmp_path / "data"}"\n')
    with on_path(counting(tmp_path / "site").folder):
        assert main(["explain", "count", "--config", str(config)]) != 0
    assert "count is not available: the operator has not set key" in capsys.readouterr().err


@pytest.mark.parametrize(("reason", "expected"), [("1 / 0", "ZeroDivisionError"), ("None", "must return a text")])
def test_one_that_raises_breaks_only_its_plugin(
    tmp_path: Path, compile_with: Compile, reason: str, expected: str
) -> None:
    compiled = compile_with(counting(tmp_path, reason), install_plugin(tmp_path, "other"))

    assert statuses(compiled) == {"words": "broken", "other": "active"}
    assert expected in str(record_of(compiled, "words").error)
    assert "guess" not in compiled.catalog.tools
