"""The text index: `/llms.txt` and `/llms-full.txt`, after the llms.txt convention."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final

import structlog
from sanic import HTTPResponse, Request

from pressroom.catalog.descriptor import generator_of
from pressroom.catalog.tool import ANONYMOUS
from pressroom.errors import PluginError
from pressroom.host import Host
from pressroom.plugins.explaining import shown
from pressroom.plugins.shapes import shape_problems
from pressroom.sdk import IndexEntries, IndexEntry

log = structlog.get_logger()

SECTIONS: Final = ("Docs", "Articles", "Tools", "API")
"""The sections that come first, in this order; others follow by name."""

ENTRIES_SECONDS: Final = 10.0
"""How long a plugin may take to list its entries."""


class TextIndex:
    """Collects the entries of the host and of all plugins, each time the index is read."""

    def __init__(self, host: Host) -> None:
        self._branding = host.compiled.branding
        self._base_url = host.settings.public_url
        self._providers = [(one.plugin, one.record) for one in host.compiled.plugins.contributions.of(IndexEntries)]
        tools = [generator_of(entry) for entry in host.services.catalog.plan(ANONYMOUS).generators]
        self._own = {
            "Docs": [IndexEntry("Documentation", self._branding.docs_url, "how to use this service")],
            "Tools": [IndexEntry(tool.name, f"/tools/{tool.slug}", tool.summary, tool.description) for tool in tools],
            "API": [
                IndexEntry("Tool catalog", "/tools/api", "every tool with its parameters, as JSON"),
                IndexEntry("OpenAPI", "/openapi.json", "OpenAPI 3.1 description of the Tools API"),
            ],
        }

    async def short(self, _request: Request) -> HTTPResponse:
        """`GET /llms.txt`: sections of links."""
        return self._text(await self._sections(), full=False)

    async def full(self, _request: Request) -> HTTPResponse:
        """`GET /llms-full.txt`: the same with the text of each entry that has one."""
        return self._text(await self._sections(), full=True)

    async def _sections(self) -> dict[str, list[IndexEntry]]:
        found: defaultdict[str, list[IndexEntry]] = defaultdict(list)
        for section, entries in self._own.items():
            found[section] += entries
        for plugin, provider in self._providers:
            try:
                async with asyncio.timeout(ENTRIES_SECONDS):
                    entries = [_checked(entry) for entry in await provider.entries()]
                found[provider.section] += entries
            except Exception as error:  # noqa: BLE001 - a plugin's entries never cost the others
                log.warning("index entries failed", plugin=plugin, error=f"{type(error).__name__}: {error}")
        order = [*SECTIONS, *sorted(found.keys() - set(SECTIONS))]
        return {
            section: sorted(found[section], key=lambda entry: entry.title) for section in order if found.get(section)
        }

    def _text(self, sections: dict[str, list[IndexEntry]], *, full: bool) -> HTTPResponse:
        lines = [f"# {_line(self._branding.name)}", "", f"> {_line(self._branding.tagline)}", ""]
        for section, entries in sections.items():
            lines += [f"## {_line(section)}", ""]
            for entry in entries:
                note = f": {_line(entry.note)}" if entry.note else ""
                lines.append(f"- [{_line(entry.title)}]({self._absolute(entry.url)}){note}")
                if full and entry.text:
                    lines += ["", entry.text.strip(), ""]
            lines.append("")
        return HTTPResponse("\n".join(lines), content_type="text/plain; charset=utf-8")

    def _absolute(self, url: str) -> str:
        return f"{self._base_url}{url}" if url.startswith("/") else url


def _checked(entry: IndexEntry) -> IndexEntry:
    problems = list(shape_problems(entry))
    if problems or not isinstance(entry, IndexEntry):
        raise PluginError("; ".join(problems) or f"an entry must be an IndexEntry, not {shown(entry)}")
    return entry


def _line(text: str) -> str:
    return " ".join(text.split())
