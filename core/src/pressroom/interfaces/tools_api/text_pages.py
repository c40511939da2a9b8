"""The pages of tools as Markdown, at their URLs with `.md`: for language models, after the llms.txt convention."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

SUFFIX: Final = ".md"
"""What the path of a page ends with where it is asked for as Markdown."""


def index_text(name: str, descriptors: Iterable[Mapping[str, Any]], base_url: str) -> str:
    """Return the list of tools."""
    lines = [f"# {_line(name)} tools", ""]
    for tool in descriptors:
        url = f"{base_url}/tools/{tool['slug']}{SUFFIX}"
        lines.append(f"- [{_line(tool['name'])}]({url}): {_line(_summary(tool))}")
    lines += ["", f"Each tool is one POST. The catalog: {base_url}/tools/api; OpenAPI: {base_url}/openapi.json", ""]
    return "\n".join(lines)


def tool_text(descriptor: Mapping[str, Any], base_url: str) -> str:
    """Return what a tool makes, how it is called, and its parameters."""
    summary = _summary(descriptor)
    lines = [f"# {_line(descriptor['name'])}", "", _line(summary), ""]
    if descriptor["description"] != summary:
        lines += [_line(descriptor["description"]), ""]
    for endpoint in descriptor["endpoints"]:
        url = f"{base_url}/tools/{descriptor['slug']}/api{endpoint['path']}"
        lines += [*_call(endpoint, url), ""]
    for note in descriptor.get("notes", ()):
        lines += [_line(note), ""]
    return "\n".join(lines)


def _call(endpoint: Mapping[str, Any], url: str) -> list[str]:
    lines = [f"`{endpoint['method']} {url}` with a JSON object.", "", "## Parameters", ""]
    for param in endpoint["params"]:
        kind = param["type"] + (", required" if param["required"] else "")
        lines.append(f"- `{param['name']}` ({kind}): {_line(param['description'])}{_bounds(param)}")
    for example in endpoint.get("examples", ())[:1]:
        lines += ["", "## Example", "", "```json", json.dumps(example["params"], ensure_ascii=False, indent=2), "```"]
    return lines


def _summary(descriptor: Mapping[str, Any]) -> str:
    endpoints = descriptor["endpoints"]
    return str(endpoints[0]["summary"] if endpoints else descriptor["description"])


def _bounds(param: Mapping[str, Any]) -> str:
    said = []
    if values := param.get("enumValues"):
        said.append(f"One of {', '.join(json.dumps(one) for one in values)}.")
    if "min" in param or "max" in param:
        unit = " characters" if param["type"] == "string" else ""
        least, most = param.get("min"), param.get("max")
        both = f"{least} to {most}" if least is not None and most is not None else None
        said.append(f"{both or (f'At most {most}' if least is None else f'At least {least}')}{unit}.")
    if param.get("default") is not None:
        said.append(f"Default: {json.dumps(param['default'], ensure_ascii=False)}.")
    return "".join(f" {one}" for one in said)


def _line(text: str) -> str:
    return " ".join(text.split())
