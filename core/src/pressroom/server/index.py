"""The text index: `/llms.txt` and `/llms-full.txt`, following the llms.txt convention."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Final

import structlog
from sanic import HTTPResponse, Request

from pressroom.catalog.descriptor import generator_of
from pressroom.catalog.tool import ANONYMOUS
from pressroom.errors import PluginError
from pressroom.gate import PluginCall, PluginFailed
from pressroom.gate.failures import describe_value
from pressroom.host.host import Host
from pressroom.oauth.records import RESOURCE_METADATA_PATH
from pressroom.plugins.contributions import shape_problems
from pressroom.sdk import IndexEntries, IndexEntry

log = structlog.get_logger()

SECTIONS: Final = ("Docs", "Articles", "Tools", "API")
"""The sections that come first, in this order; others follow by name."""


_MAX_TEXT: Final = 16 * 2**20
"""The maximum number of characters of all texts in `/llms-full.txt`; entries beyond it only have a link."""

_UNVERSIONED_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class _CachedIndex:
    state: str
    ends: float
    body: bytes

    def holds(self, state: str) -> bool:
        return self.state == state and monotonic() < self.ends


class TextIndex:
    """Collects the entries of the host and of all plugins whenever the index is read."""

    def __init__(self, host: Host) -> None:
        self._full = _CachedIndex("", 0, b"")
        self._turn = asyncio.Lock()
        self._branding = host.compiled.branding
        self._gate = host.compiled.gate
        self._base_url = host.settings.public_url
        self._providers = [
            (contribution.plugin, contribution.record)
            for contribution in host.compiled.plugins.contributions.of(IndexEntries)
        ]
        tools = [generator_of(entry) for entry in host.services.catalog.plans[ANONYMOUS].generators]
        self._own = {
            "Docs": [IndexEntry("Documentation", self._branding.docs_url, "how to use this service")],
            "Tools": [IndexEntry(tool.name, f"/tools/{tool.slug}", tool.summary, tool.description) for tool in tools],
            "API": [
                IndexEntry("Tool catalog", "/tools/api", "every tool with its parameters, as JSON"),
                IndexEntry("OpenAPI", "/openapi.json", "OpenAPI 3.1 description of the Tools API"),
            ],
        }
        if host.settings.mcp.enabled:
            # The MCP endpoint itself does not support GET, and every link of the index should work.
            about = RESOURCE_METADATA_PATH if host.settings.oauth.enabled else self._branding.docs_url
            note = f"the tools for AI clients at {self._branding.mcp_url}, with an API key or by OAuth"
            self._own["API"].append(IndexEntry("MCP endpoint", about, note))

    async def short(self, _request: Request) -> HTTPResponse:
        """`GET /llms.txt`: sections of links."""
        return _text_response(self._text(await self._sections(), {}))

    async def full(self, _request: Request) -> HTTPResponse:
        """`GET /llms-full.txt`: the same, with the text of each entry that has one.

        The result is cached until the entries change. Only one request at a time builds it, so that many readers do not
        repeat the same work.
        """
        sections = await self._sections()
        state = _state(sections)
        if not self._full.holds(state):
            async with self._turn:
                if not self._full.holds(state):
                    self._full = await self._make_full(sections, state)
        return _text_response(self._full.body)

    async def _make_full(self, sections: dict[str, list[IndexEntry]], state: str) -> _CachedIndex:
        texts: dict[int, str] = {}
        all_versioned, remaining = True, _MAX_TEXT
        for entry in (entry for entries in sections.values() for entry in entries):
            if remaining <= 0:
                break
            text = await _text_of(entry)
            all_versioned = all_versioned and (entry.read is None or (text is not None and entry.version != ""))
            if text and len(text) <= remaining:
                texts[id(entry)] = text
                remaining -= len(text)
        ends = inf if all_versioned else monotonic() + _UNVERSIONED_SECONDS
        return _CachedIndex(state, ends, self._text(sections, texts))

    async def _sections(self) -> dict[str, list[IndexEntry]]:
        by_section: defaultdict[str, list[IndexEntry]] = defaultdict(list)
        for section, entries in self._own.items():
            by_section[section] += entries
        for plugin, provider in self._providers:
            # A failing plugin must not affect the entries of others.
            with suppress(PluginFailed), self._gate.calling(PluginCall(plugin, "index", provider.section)):
                by_section[provider.section] += [_checked(entry) for entry in await provider.entries()]
        order = [*SECTIONS, *sorted(by_section.keys() - set(SECTIONS))]
        return {section: sorted(by_section[section], key=_order) for section in order if by_section.get(section)}

    def _text(self, sections: dict[str, list[IndexEntry]], texts: Mapping[int, str]) -> bytes:
        lines = [f"# {_line(self._branding.name)}", "", f"> {_line(self._branding.tagline)}", ""]
        for section, entries in sections.items():
            lines += [f"## {_line(section)}", ""]
            for entry in entries:
                note = f": {_line(entry.note)}" if entry.note else ""
                lines.append(f"- [{_line(entry.title)}]({self._absolute(entry.url)}){note}")
                if text := texts.get(id(entry)):
                    lines += ["", text, ""]
            lines.append("")
        return "\n".join(lines).encode("utf-8", "replace")

    def _absolute(self, url: str) -> str:
        return f"{self._base_url}{url}" if url.startswith("/") else url


def _checked(entry: IndexEntry) -> IndexEntry:
    problems = list(shape_problems(entry))
    if problems or not isinstance(entry, IndexEntry):
        raise PluginError("; ".join(problems) or f"an entry must be an IndexEntry, not {describe_value(entry)}")
    return entry


def _order(entry: IndexEntry) -> tuple[bool, float, str]:
    at = entry.published_at
    return at is None, -at.timestamp() if at is not None else 0.0, entry.title


def _text_response(body: bytes) -> HTTPResponse:
    return HTTPResponse(body, content_type="text/plain; charset=utf-8")


def _state(sections: Mapping[str, Sequence[IndexEntry]]) -> str:
    """Return a digest that changes whenever the index or its texts change."""
    fields = [
        (section, entry.title, entry.url, entry.note, entry.text, entry.published_at, entry.version)
        for section, entries in sections.items()
        for entry in entries
    ]
    return hashlib.sha256(repr(fields).encode("utf-8", "surrogatepass")).hexdigest()


async def _text_of(entry: IndexEntry) -> str | None:
    """Return the text of an entry, or `None` if it is not available."""
    if entry.read is None:
        return entry.text.strip()
    try:
        return (await entry.read()).strip()
    except Exception as error:  # noqa: BLE001 - one text that fails must not affect the others
        log.warning("the text of an index entry failed", entry=entry.url, error=f"{type(error).__name__}: {error}")
        return None


def _line(text: str) -> str:
    return " ".join(text.split())
