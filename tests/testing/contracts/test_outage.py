"""The outage check reports a tool that fails in an outage, and only that one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressroom.testing import check_process
from support.installing import on_path
from support.plugin_source import SOUND, install_plugin

FETCHING = '''
from contextlib import suppress

class UrlParams(Params):
    url: str = Field(default="https://example.org/", description="What to fetch.")

class Size(BaseModel):
    size: int

@hookimpl
def pressroom_mcp_tools(plugin):
    @mcp_tool(name="careless", title="Careless", timeout=1)
    async def careless(params: UrlParams, call: Call) -> Size:
        """Returns how large a page is."""
        found = await plugin.services.fetcher.get(params.url, accept="*/*", max_bytes=1000, seconds=5)
        return Size(size=len(found.content))

    @mcp_tool(name="careful", title="Careful", timeout=1)
    async def careful(params: UrlParams, call: Call) -> Size:
        """Returns how large a page is, or says that nobody knows."""
        try:
            found = await plugin.services.fetcher.get(params.url, accept="*/*", max_bytes=1000, seconds=5)
        except FetchFailed as error:
            raise NotFound("The page does not respond; try again later.") from error
        return Size(size=len(found.content))

    @mcp_tool(name="plain", title="Plain", timeout=1)
    async def plain(params: UrlParams, call: Call) -> Size:
        """Returns how large a page is, or refuses without a code."""
        try:
            found = await plugin.services.fetcher.get(params.url, accept="application/json", max_bytes=1000, seconds=5)
            ping = await plugin.services.fetcher.request(method="HEAD", url=params.url, max_bytes=1000, seconds=5)
        except FetchFailed as error:
            raise CallError("The page does not respond; try again later.") from error
        with suppress(FetchFailed):
            async with plugin.services.fetcher.connect(host="example.org", port=22, seconds=5):
                pass
        return Size(size=len(found.content) + len(ping.content))

    @mcp_tool(name="hopeless", title="Hopeless", timeout=1)
    async def hopeless(params: UrlParams, call: Call) -> Size:
        """Fails whatever happens."""
        raise ZeroDivisionError("nutmeg")

    return [careless, careful, plain, hopeless]
'''


@pytest.mark.timeout(120)
def test_only_the_tool_that_lets_a_failure_through_gets_a_finding(tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "fetching", SOUND + FETCHING)
    with on_path(tmp_path / "site"):
        stages = [(stage, list(findings)) for stage, findings in check_process._stages("fetching", {}, "")]
    assert [stage for stage, _ in stages] == ["contracts", "outages"]
    anyway = next(finding for finding in stages[0][1] if finding.where == "hopeless")
    assert "ZeroDivisionError: nutmeg (plugin.py, line " in anyway.seen
    by_tool = {finding.where: finding for finding in stages[1][1]}
    assert sorted(finding.where for finding in stages[1][1]) == ["careless", "plain"]
    assert {finding.promise for finding in by_tool.values()} == {
        "a call gets an explanation while nothing can be fetched"
    }
    assert "FetchFailed" in by_tool["careless"].fix
    assert "derive a class with a `code`" in by_tool["plain"].seen
