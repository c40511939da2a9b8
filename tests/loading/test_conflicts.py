"""Name conflicts between plugins: a built-in plugin keeps the name; of two others, neither gets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.compiling import Compile, record_of, statuses
from support.installing import install
from support.plugin_distributions import BROKEN, Distribution
from support.plugin_source import SOUND, filled, install_plugin, needing


def offering(site: Path, id_: str, *slugs: str) -> Distribution:
    """Install a plugin with one generator for each slug."""
    body = "".join(
        f"""
@generator(
    slug="{slug}", name="x y", summary="Text in capitals.", rate_limit=per_hour(60), produces=("text/plain",),
    executor="async",
)
async def generate{number}(params: TextParams, call: Call) -> Artifact: ...
"""
        for number, slug in enumerate(slugs)
    )
    names = ", ".join(f"generate{number}" for number in range(len(slugs)))
    return install_plugin(site, id_, f"{SOUND}{body}\n@hookimpl\ndef pressroom_generators():\n    return [{names}]\n")


def test_three_plugins_that_conflict_in_pairs_are_all_unused(tmp_path: Path, compile_with: Compile) -> None:
    installed = [offering(tmp_path, *ids) for ids in (("one", "a"), ("two", "a", "b"), ("three", "b"), ("four", "c"))]
    compiled = compile_with(*installed)
    assert statuses(compiled) == {"one": "conflict", "two": "conflict", "three": "conflict", "four": "active"}
    assert sorted(compiled.catalog.tools) == ["c", "qr-code-generator"]


def test_a_plugin_that_conflicts_with_a_built_in_one_affects_no_others(tmp_path: Path, compile_with: Compile) -> None:
    greedy, modest = offering(tmp_path, "greedy", "qr-code-generator", "a"), offering(tmp_path, "modest", "a")
    assert statuses(compile_with(greedy, modest)) == {"greedy": "conflict", "modest": "active"}


def test_a_plugin_without_its_requirement_affects_no_others(tmp_path: Path, compile_with: Compile) -> None:
    lonely = needing(tmp_path, "lonely", "gone", more="\nshout = shout\n")
    rival = offering(tmp_path, "rival", "lonely")
    assert statuses(compile_with(lonely, rival)) == {"lonely": "broken", "rival": "active"}


def test_disabling_one_of_two_rivals_resolves_their_conflict(tmp_path: Path, compile_with: Compile) -> None:
    installed = BROKEN["duplicate_slug"](tmp_path)
    compiled = compile_with(installed, plugins={"duplicate_slug_too": {"enabled": False}})
    assert statuses(compiled) == {"duplicate_slug": "active", "duplicate_slug_too": "disabled"}
    assert "duplicate-slug" in compiled.catalog.tools


def test_a_slug_conflicts_with_an_equal_mcp_name(tmp_path: Path, compile_with: Compile) -> None:
    tool = """
class Count(BaseModel):
    words: int

@mcp_tool(name="a-name", title="Count", description="Counts words.")
async def count(params: TextParams, call: Call) -> Count: ...

@hookimpl
def pressroom_mcp_tools():
    return [count]
"""
    compiled = compile_with(offering(tmp_path, "first", "a-name"), install_plugin(tmp_path, "second", SOUND + tool))
    assert statuses(compiled) == {"first": "conflict", "second": "conflict"}
    assert record_of(compiled, "first").error == "the tool name a-name is offered by second too"


COUNT = """
class Count(BaseModel):
    words: int

@mcp_tool(name="$name", title="Count", description="Counts words.", aliases=($aliases,))
async def count(params: TextParams, call: Call) -> Count: ...

@hookimpl
def pressroom_mcp_tools():
    return [count]
"""


@pytest.mark.parametrize(("name", "alias"), [("count", "first"), ("first", "count"), ("count", "a-name")])
def test_an_alias_conflicts_like_any_other_name(tmp_path: Path, compile_with: Compile, name: str, alias: str) -> None:
    def counting(id_: str, name: str, alias: str) -> Distribution:
        tool = COUNT.replace("$name", name).replace("$aliases", repr(alias))
        return install_plugin(tmp_path, id_, SOUND + tool)

    compiled = compile_with(counting("one", "first", "a-name"), counting("two", name, alias))
    assert statuses(compiled) == {"one": "conflict", "two": "conflict"}
    assert "the tool name" in str(record_of(compiled, "one").error)


def test_an_alias_may_repeat_the_tools_own_name(tmp_path: Path, compile_with: Compile) -> None:
    tool = COUNT.replace("$name", "count").replace("$aliases", '"count", "count_words"')
    assert statuses(compile_with(install_plugin(tmp_path, "one", SOUND + tool))) == {"one": "active"}


def test_a_generator_may_have_its_slug_as_its_mcp_name(tmp_path: Path, compile_with: Compile) -> None:
    module = SOUND.replace('executor="async",', 'executor="async", mcp=Mcp("$slug"),')
    compiled = compile_with(install_plugin(tmp_path, "plain", module))
    assert statuses(compiled) == {"plain": "active"}
    assert compiled.catalog.plans["anonymous"].mcp_tools["plain"].tool.name == "plain"


@pytest.mark.parametrize(
    ("first", "second", "claim"),
    [
        ("Route('/a/<x>', print)", "Route('/a/<y>/', print, ('get',))", "the route GET /a/<…>"),
        ("Route('/a', print)", "Route('/a', print, ('HEAD',))", "the route HEAD /a"),
        ("Backend('files', 'swift', print)", "Backend('files', 'swift', print)", "the files backend swift"),
        ("Brander('short', print)", "Brander('short', print)", "the brander short"),
        ("Authenticator('badge', print)", "Authenticator('badge', print)", "the authenticator badge"),
    ],
)
def test_other_names_can_conflict_too(
    first: str, second: str, claim: str, tmp_path: Path, compile_with: Compile
) -> None:
    hooks = {
        "Route": "routes",
        "Backend": "backends",
        "Brander": "branding",
        "Authenticator": "authenticators",
    }
    hook = f"pressroom_{hooks[first.partition('(')[0]]}"
    installed = [
        install_plugin(tmp_path, id_, f"{SOUND}\n@hookimpl\ndef {hook}():\n    return [{record}]\n")
        for id_, record in (("first", first), ("second", second))
    ]
    compiled = compile_with(*installed)
    assert statuses(compiled) == {"first": "conflict", "second": "conflict"}
    assert record_of(compiled, "second").error == f"{claim} is offered by first too"


def test_routes_with_different_methods_share_a_path(tmp_path: Path, compile_with: Compile) -> None:
    installed = [
        install_plugin(
            tmp_path, id_, f"{SOUND}\n@hookimpl\ndef pressroom_routes():\n    return [Route('/a', print, {m})]\n"
        )
        for id_, m in (("reader", "('GET',)"), ("writer", "('POST', 'PUT')"))
    ]
    assert statuses(compile_with(*installed)) == {"reader": "active", "writer": "active"}


def test_rate_limits_of_two_plugins_are_separate_despite_equal_names(tmp_path: Path, compile_with: Compile) -> None:
    hook = "\n@hookimpl\ndef pressroom_rate_limits():\n    yield RateLimit('default', lambda tool, plan: per_day(9))\n"
    compiled = compile_with(*(install_plugin(tmp_path, id_, SOUND + hook) for id_ in ("first", "second")))
    limits = compiled.catalog.plans["anonymous"].tools["first"].limits
    assert [(limit.name, str(limit.rate)) for limit in limits] == [
        ("default", "60 per hour"),
        ("first: default", "9 per day"),
        ("second: default", "9 per day"),
    ]


def test_two_plugins_cannot_share_a_module(tmp_path: Path, compile_with: Compile) -> None:
    module = filled(SOUND, "first") + "\nSECOND = Plugin(id='second', title='Second', summary='For tests.')\n"
    install(tmp_path, "acme-both", {"acme_both.py": module}, {"first": "acme_both", "second": "acme_both:SECOND"})
    compiled = compile_with(Distribution(tmp_path, {"first": {}, "second": {}}))
    assert statuses(compiled) == {"first": "active", "second": "broken"}
    record = record_of(compiled, "second")
    assert (record.phase, record.error) == ("register", "its module is that of the plugin 'first'")
    assert record.hint == "give each plugin a module of its own"
