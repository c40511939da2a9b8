"""Code to copy: the request as a curl command, and the answer as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from pressroom.interfaces.tools_api.pages.forms import Descriptor, text_of
from pressroom.sdk import Branding
from pressroom.sdk.generator import PLACEHOLDER


@dataclass(frozen=True, slots=True)
class SnippetView:
    """A text to copy. `template` is what the script fills in anew when there is another file."""

    id: str
    title: str
    text: str
    template: str
    note: str


def curl_lead(url: str) -> str:
    """Return the beginning of a curl command, up to the body."""
    return f"curl {shlex.quote(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d "


def curl_command(url: str, values: Mapping[str, Any]) -> str:
    """Return a shell command that sends the values to an endpoint."""
    return curl_lead(url) + shlex.quote(json.dumps(values, ensure_ascii=False, separators=(",", ":")))


def response_sample(descriptor: Descriptor, branding: Branding, base_url: str, answer: Mapping[str, Any] | None) -> str:
    """Return the JSON answer of a tool: the one that was given, else a typical one."""
    return json.dumps(answer or _typical(descriptor, branding, base_url), ensure_ascii=False, indent=2)


def snippets(
    descriptor: Descriptor, branding: Branding, base_url: str, answer: Mapping[str, Any] | None
) -> list[SnippetView]:
    """Return the tool's texts to copy, filled with what was made, else with what is typical."""
    given = (descriptor.get("page") or {}).get("snippets", ())
    if not given:
        return []
    made = answer if answer is not None and answer.get("ok") else _typical(descriptor, branding, base_url)
    return [
        SnippetView(f"snippet-{number}", one["title"], _filled(one["text"], made["data"]), one["text"], one["note"])
        for number, one in enumerate(given)
    ]


def _filled(text: str, data: Mapping[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda match: escape(text_of(data[match[1]])) if match[1] in data else match[0], text)


def _typical(descriptor: Descriptor, branding: Branding, base_url: str) -> Mapping[str, Any]:
    endpoint = descriptor["endpoints"][0]
    suffix = descriptor.get("extension") or "bin"
    limit = descriptor["rateLimit"]["requests"]
    slug, file_id = descriptor["slug"], "5f0c7a1d9be2436884c15d3e7a90b2cf"
    return {
        "ok": True,
        "data": {
            "id": file_id,
            "url": f"{base_url}/files/{slug}/{file_id}.{suffix}?expires=1767283200&signature=…",
            "expiresAt": "2026-01-01T16:00:00Z",
            "cached": False,
            **(descriptor.get("sampleData") or {}),
        },
        "meta": {
            "tool": slug,
            "endpoint": endpoint["path"],
            "version": "1.0",
            "cached": False,
            "timestamp": "2026-01-01T13:00:00Z",
            "rateLimit": {"limit": limit, "remaining": limit - 1, "resetAt": "2026-01-01T14:00:00Z"},
        },
        branding.key: {"name": branding.name, "url": branding.url, "mcpUrl": branding.mcp_url},
    }
