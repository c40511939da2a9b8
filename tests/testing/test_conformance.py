"""`assert_plugin_conforms` reports violations, and accepts a sound plugin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from pressroom.testing import assert_plugin_conforms, conformance
from support.third_party import GENERATOR, HEAD, MCP_TOOL

Install = Callable[..., str]

ALONE: Final = {"builtin_plugins": False}
"""Host configuration of checks that are not about other plugins: a host without the built-in ones starts sooner."""

SLOPPY_VALIDATOR = """
from typing import Annotated
from pydantic import BeforeValidator

Stripped = Annotated[str, BeforeValidator(lambda value: value.strip())]
"""

BROKEN_DOOR = """
from contextlib import asynccontextmanager

@asynccontextmanager
async def door():
    raise OSError("the door is jammed")
    yield

@hookimpl
def pressroom_lifespan():
    return [Lifespan("door", door)]
"""

NEVER_CACHED = """
@hookimpl
def pressroom_cache_rules():
    return [CacheRule("never", lambda tool, plan: CachePolicy(0))]
"""

CONFIGURED = """
class Config(PluginConfig):
    suffix: str

PLUGIN = Plugin(id="{id}", api="1", title="Shouting", summary="Text in capitals.", config=Config)
"""


def complaints(plugin: str) -> list[str]:
    with pytest.raises(AssertionError) as failure:
        assert_plugin_conforms(plugin, host_config=ALONE)
    heading, *lines = str(failure.value).splitlines()
    assert heading == f"{plugin} does not conform:"
    return [line.removeprefix("- ") for line in lines]


@pytest.mark.parametrize(
    "source",
    [HEAD + GENERATOR + MCP_TOOL, HEAD + GENERATOR, HEAD + MCP_TOOL, HEAD + GENERATOR + NEVER_CACHED],
    ids=["both kinds of tools", "a generator", "an MCP tool", "a generator that is never cached"],
)
def test_a_valid_plugin_conforms_even_with_more_examples_than_its_limit_allows(install: Install, source: str) -> None:
    assert_plugin_conforms(install(source))


def test_a_plugin_is_checked_with_its_configuration(install: Install) -> None:
    plugin = install(HEAD + CONFIGURED + GENERATOR)
    assert_plugin_conforms(plugin, {"suffix": "!"}, host_config=ALONE)
    (complaint,) = complaints(plugin)
    assert "it is broken (phase config)" in complaint
    assert "suffix" in complaint


def test_a_plugin_is_checked_together_with_those_that_it_requires(install: Install) -> None:
    other = install(HEAD + MCP_TOOL)
    plugin = install(
        HEAD
        + GENERATOR.replace(
            "@hookimpl", f"PLUGIN = Plugin('{{id}}', 'A', 'B', '1', requires=('{other}',))\n\n\n@hookimpl"
        )
    )
    (complaint,) = complaints(plugin)
    assert f"it needs {other}, which is not active" in complaint
    assert_plugin_conforms(plugin, host_config={**ALONE, "plugins": {other: {}}})


def test_a_public_url_that_leads_elsewhere_does_not_matter(install: Install) -> None:
    assert_plugin_conforms(install(), host_config={**ALONE, "base_url": "https://tools.example.org"})


def test_a_plugin_that_is_not_installed_is_reported(install: Install) -> None:
    plugin = install()
    (complaint,) = complaints(f"{plugin}x")
    assert "no installed package offers it" in complaint
    assert f"did you mean '{plugin}'?" in complaint


CHOOSY = GENERATOR.replace(
    "    return Artifact",
    '    if params.text == "Ada":\n        raise InvalidInput("text", "must not be Ada")\n    return Artifact',
)
TERSE = MCP_TOOL.replace("Counts the letters of a text. Use it before shouting.", "Counts.")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import no_such_library", "it is broken (phase import): ModuleNotFoundError: No module named"),
        (HEAD, "it contributes nothing"),
        ("import httpx\n" + HEAD + MCP_TOOL, "discovery imports no heavy library; got its module imports httpx"),
        (HEAD + TERSE, "got description too short to be useful"),
        (
            HEAD + MCP_TOOL.replace("Measure a shout", " "),
            "measure_volume: its texts tell models what it does; got title empty",
        ),
        (HEAD + GENERATOR.replace("Writes a text in capitals.", "Shouts."), "got summary too short to be useful"),
        (
            HEAD + GENERATOR.replace("examples=", "examples=() and "),
            "shout: it has at least one example; got none — add at least one example",
        ),
        (HEAD + BROKEN_DOOR + MCP_TOOL, "it is broken (phase lifespan): OSError: the door is jammed"),
        (HEAD + CHOOSY, "shout: every example succeeds; got 400"),
        (
            HEAD + GENERATOR.replace('encode(), "text/plain"', 'encode(), "text/html"'),
            "every example succeeds; got 500",
        ),
        (
            SLOPPY_VALIDATOR + HEAD.replace("text: str", "text: Stripped") + GENERATOR,
            "shout: a value of the wrong type is refused with 400; got 500",
        ),
    ],
)
def test_problems_are_reported(install: Install, source: str, expected: str) -> None:
    reported = complaints(install(source))
    assert any(expected in complaint for complaint in reported), reported


def test_a_plugin_must_declare_its_plugin_api(install: Install) -> None:
    silent = HEAD.replace('api="1", ', "")
    assert silent != HEAD
    (complaint,) = complaints(install(silent + GENERATOR))
    assert "it states its plugin API" in complaint
    assert "it does not say which plugin API it is written for: say so with PLUGIN = Plugin(" in complaint


def test_all_problems_are_reported_at_once(install: Install) -> None:
    careless = GENERATOR.replace("Writes a text in capitals.", "Shouts.").replace("examples=", "examples=() and ")
    reported = complaints(install("import httpx\n" + HEAD + careless))
    assert len(reported) == 3


def test_a_module_whose_import_never_ends_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "waits_forever.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait).start()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(conformance, "IMPORT_SECONDS", 4)
    (finding,) = conformance._heavy_imports("waits_forever")
    assert (finding.promise, finding.where) == ("its module can be imported by itself", "waits_forever")
    assert "start no thread" in finding.fix


WRAPPING = """
from dataclasses import replace

@hookimpl(wrapper=True, specname="pressroom_mcp_tools")
def wrap_tools():
    return [replace(one, function=broken) if one.name == "measure_volume" else one for one in (yield)]

async def broken(params, call):
    raise KeyError("the wrapper is broken")
"""


ROUTE = """
@hookimpl
def pressroom_routes():
    return [Route("/volume", volume)]

async def volume(request):
    return HttpResponse(b"11", 200, "text/plain")
"""

WRAPPING_ROUTES = """
from dataclasses import replace

@hookimpl(wrapper=True, specname="pressroom_routes")
def wrap_routes():
    return [replace(one, handler=broken) if one.path == "/volume" else one for one in (yield)]

async def broken(request):
    raise KeyError("the wrapper is broken")
"""


@pytest.mark.parametrize(
    ("offered", "wrapper", "record"), [(MCP_TOOL, WRAPPING, "measure_volume"), (ROUTE, WRAPPING_ROUTES, "/volume")]
)
def test_changes_by_a_wrapper_are_checked_too(install: Install, offered: str, wrapper: str, record: str) -> None:
    other, wrapping = install(HEAD + offered), install(HEAD + wrapper)
    with pytest.raises(AssertionError) as failure:
        assert_plugin_conforms(wrapping, host_config={**ALONE, "plugins": {other: {}}})
    assert record in str(failure.value)
    assert_plugin_conforms(other, host_config=ALONE)
