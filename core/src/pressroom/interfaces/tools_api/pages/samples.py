"""Code to copy: requests in several languages, the response as JSON, and texts to embed the result."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final, Literal

from pressroom.interfaces.tools_api.pages.forms import Descriptor, text_of
from pressroom.sdk import Branding
from pressroom.sdk.page import PLACEHOLDER


@dataclass(frozen=True, slots=True)
class SnippetView:
    """A text to copy. The script fills `template` again when the file changes."""

    id: str
    title: str
    text: str
    template: str
    note: str


@dataclass(frozen=True, slots=True)
class CodeSample:
    """A request in one language: `lead`, then the input in the notation `encoding`, then `tail`.

    The notations are `shell`, JSON as one quoted word; `json`, indented; and `python`, a literal. The script updates
    the input whenever the form changes.
    """

    id: str
    title: str
    encoding: Literal["shell", "json", "python"]
    lead: str
    tail: str
    text: str


def code_samples(url: str, mcp_name: str, branding: Branding, values: Mapping[str, Any]) -> list[CodeSample]:
    """Return requests that send the values to an endpoint: for a shell, JavaScript, Python, and an AI client.

    `mcp_name` is the tool's name for AI clients, empty if it has none.
    """
    quoted = json.dumps(url)
    tool = f"the tool `{mcp_name}` of {branding.name}" if mcp_name else f"the HTTP API at {url} (POST, JSON)"
    return [
        _sample("curl", "curl", "shell", _curl_lead(url), "", values),
        _sample(
            "javascript",
            "JavaScript",
            "json",
            f"const response = await fetch({quoted}, {{\n"
            '  method: "POST",\n  headers: { "Content-Type": "application/json" },\n  body: JSON.stringify(',
            "),\n});\nconst result = await response.json();\nconsole.log(result.data.url);",
            values,
        ),
        _sample(
            "python",
            "Python",
            "python",
            "import httpx\n\nresult = httpx.post(\n    " + quoted + ",\n    json=",
            ',\n    timeout=30,\n).json()\nprint(result["data"]["url"])',
            values,
        ),
        _sample(
            "assistant",
            "Say this to your AI",
            "json",
            f"Use {tool} with these values, and give me the link:\n\n",
            "",
            values,
        ),
    ]


def _sample(
    name: str, title: str, encoding: Literal["shell", "json", "python"], lead: str, tail: str, values: Mapping[str, Any]
) -> CodeSample:
    return CodeSample(name, title, encoding, lead, tail, f"{lead}{_ENCODERS[encoding](values)}{tail}")


def _curl_lead(url: str) -> str:
    """Return the part of a curl command that precedes the body."""
    return f"curl {shlex.quote(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d "


def _shell(values: Mapping[str, Any]) -> str:
    return "'" + json.dumps(values, ensure_ascii=False, separators=(",", ":")).replace("'", "'\"'\"'") + "'"


def _pretty(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2)


def python_literal(value: Any, indent: str = "    ") -> str:
    """Return a JSON value as a Python literal, with one object member per line."""
    match value:
        case None | True | False:
            return repr(value)
        case dict() if value:
            inner = indent + "    "
            members = "".join(
                f"{inner}{json.dumps(name, ensure_ascii=False)}: {python_literal(child, inner)},\n"
                for name, child in value.items()
            )
            return f"{{\n{members}{indent}}}"
        case list():
            return "[" + ", ".join(python_literal(child, indent) for child in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


_ENCODERS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "shell": _shell,
    "json": _pretty,
    "python": python_literal,
}


def response_sample(
    descriptor: Descriptor, branding: Branding, base_url: str, response: Mapping[str, Any] | None
) -> str:
    """Return the JSON response of a tool: the actual one, or else a typical one."""
    return json.dumps(response or _typical(descriptor, branding, base_url), ensure_ascii=False, indent=2)


def snippets(
    descriptor: Descriptor,
    branding: Branding,
    base_url: str,
    response: Mapping[str, Any] | None,
    permanent_url: str | None = None,
) -> list[SnippetView]:
    """Return the tool's texts to copy, filled from the actual response, or else from a typical one.

    Their URL is `permanent_url`, or an example if that is empty. If it is `None`, there are no permanent URLs: the
    texts contain the URL of the file, and a note states that it expires.
    """
    declared = (descriptor.get("page") or {}).get("snippets", ())
    if not declared:
        return []
    envelope = response if response is not None and response.get("ok") else _typical(descriptor, branding, base_url)
    data = dict(envelope["data"])
    if permanent_url is not None:
        data["url"] = permanent_url or f"{base_url}/tools/{descriptor['slug']}/image?design=…&signature=…"
    return [
        SnippetView(
            f"snippet-{number}",
            snippet["title"],
            _filled(snippet["text"], data),
            snippet["text"],
            " ".join(
                filter(
                    None, (snippet["note"], _EXPIRES if permanent_url is None and "{url}" in snippet["text"] else "")
                )
            ),
        )
        for number, snippet in enumerate(declared)
    ]


_EXPIRES: Final = (
    "The URL works for 3 hours only, to try it out. Before you publish, host the file on your own site and use that "
    "URL instead."
)

_PERMANENT: Final = (
    ("url", "URL", "{url}"),
    ("html", "HTML", '<img src="{url}"{dimensions} alt="{alt}">'),
    ("markdown", "Markdown", "![{alt}]({url})"),
)


def permanent_texts(
    descriptor: Descriptor, data: Mapping[str, Any], permanent_url: str, title: str = ""
) -> list[SnippetView]:
    """Return a permanent URL in common notations. Without a URL, the texts are empty, for the script to fill."""
    width, height = (data.get("width"), data.get("height")) if "width" in data else (data.get("size"),) * 2
    sized = isinstance(width, int) and isinstance(height, int)
    members = {
        **data,
        "url": permanent_url,
        "alt": title,
        "dimensions": f' width="{width}" height="{height}"' if sized else "",
    }
    url_texts = ((f"tags-{number}", snippet["title"], snippet["text"]) for number, snippet in _url_snippets(descriptor))
    return [
        SnippetView(f"permanent-{name}", label, _pasted(name, text, members) if permanent_url else "", text, "")
        for name, label, text in (*_PERMANENT, *url_texts)
    ]


def _url_snippets(descriptor: Descriptor) -> list[tuple[int, Mapping[str, Any]]]:
    declared = (descriptor.get("page") or {}).get("snippets", ())
    return [(number, snippet) for number, snippet in enumerate(declared) if "{url}" in snippet["text"]]


def _pasted(name: str, text: str, members: Mapping[str, Any]) -> str:
    """Fill in a text. `dimensions` is already HTML; Markdown and plain URLs are not HTML-escaped."""
    if name in ("url", "markdown"):
        alt = str(members["alt"]).replace("[", "").replace("]", "")
        return text.replace("{alt}", alt).replace("{url}", str(members["url"]))
    return _filled(text.replace("{dimensions}", str(members["dimensions"])), members)


def _filled(text: str, data: Mapping[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda match: escape(text_of(data[match[1]])) if match[1] in data else match[0], text)


def _typical(descriptor: Descriptor, branding: Branding, base_url: str) -> Mapping[str, Any]:
    endpoint = descriptor["endpoints"][0]
    suffix = descriptor.get("extension") or "bin"
    limit = (descriptor["rateLimit"] or {"requests": 0})["requests"]
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
            "rateLimit": {"limit": limit, "remaining": max(0, limit - 1), "resetAt": "2026-01-01T14:00:00Z"},
        },
        branding.key: {"name": branding.name, "url": branding.url, "mcpUrl": branding.mcp_url},
    }
