"""Render the parts of the interface contract that are derived from the code, as Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pressroom.catalog.schema import file_schema, input_schema, output_schema, parameter_list
from pressroom.errors import InvalidClient, OAuthError
from pressroom.sdk import Generator, McpTool
from pressroom_account.plugin import pressroom_mcp_tools as account_tools
from pressroom_code_to_image.plugin import generate as code_to_image
from pressroom_content.plugin import pressroom_mcp_tools as content_tools
from pressroom_favicon_generator.plugin import generate as favicon_generator
from pressroom_image_generator.params import TemplateProps
from pressroom_image_generator.plugin import generate as image_generator
from pressroom_images.plugin import pressroom_mcp_tools as image_tools
from pressroom_qr_code_generator.plugin import generate as qr_code_generator
from pressroom_search_performance.plugin import pressroom_mcp_tools as search_tools
from pressroom_seo.plugin import pressroom_mcp_tools as seo_tools

from support.reference_settings import cell

GENERATORS: Final[Mapping[str, Generator]] = {
    generator.slug: generator for generator in (image_generator, qr_code_generator, favicon_generator, code_to_image)
}

_SECTIONS: Final = {
    "image-generator": "#44-image-generator",
    "qr-code-generator": "#45-qr-code-generator",
    "favicon-generator": "#46-favicon-generator",
    "code-to-image": "#47-code-to-image",
}

_TOOLS: Final = (account_tools, content_tools, image_tools, search_tools, seo_tools)


def parameters(slug: str) -> str:
    """Return the table of a generator's parameters."""
    return _table(parameter_list(GENERATORS[slug].params)[:-1], input_schema(GENERATORS[slug].params))


def template_props() -> str:
    """Return the table of the template properties."""
    return _table(parameter_list(TemplateProps)[:-1], input_schema(TemplateProps))


def _table(records: Iterable[Mapping[str, Any]], schema: Mapping[str, Any]) -> str:
    rows = [
        f"| `{row['name']}` | {_kind(row, schema['properties'][row['name']])} | {'yes' if row['required'] else 'no'} "
        f"| {_bounds(row)} | {_default(row)} | {cell(row['description'])} |"
        for row in records
    ]
    head = ["| Parameter | Type | Required | Allowed | Default | Meaning |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _kind(record: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if record["type"] != "enum":
        return "integer" if schema.get("type") == "integer" else str(record["type"])
    return "enum"


def _bounds(record: Mapping[str, Any]) -> str:
    if "enumValues" in record:
        return ", ".join(f"`{value}`" for value in record["enumValues"])
    low, high = record.get("min"), record.get("max")
    if record["type"] == "string":
        if high is None:
            return ""
        return f"{low} to {high:,} characters" if low else f"up to {high:,} characters"
    return f"{low:g} to {high:g}" if low is not None and high is not None else ""


def _default(record: Mapping[str, Any]) -> str:
    if "default" not in record or record["default"] in (None, ""):
        return ""
    value = record["default"]
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def tools() -> str:
    """Return the table of the MCP tools, with the names of their arguments and of the members of their results."""
    rows = [_generator_row(generator) for generator in GENERATORS.values()]
    rows += [_tool_row(tool) for offered in _TOOLS for tool in offered()]
    return "\n".join(["| Tool | Arguments | Result |", "|---|---|---|", *(text for _, text in sorted(rows))])


def _generator_row(generator: Generator) -> tuple[str, str]:
    assert generator.mcp is not None
    return _row(
        generator.mcp.name, _SECTIONS[generator.slug], input_schema(generator.params), file_schema(generator.details)
    )


def _tool_row(tool: McpTool) -> tuple[str, str]:
    return _row(tool.name, f"article-tools.md#{tool.name}", input_schema(tool.params), output_schema(tool.result))


def _row(name: str, page: str, takes: Mapping[str, Any], returns: Mapping[str, Any]) -> tuple[str, str]:
    required = set(takes.get("required", ()))
    arguments = ", ".join(
        f"**`{argument}`**" if argument in required else f"`{argument}`"
        for argument in _required_first(takes.get("properties", ()), required)
    )
    members = ", ".join(f"`{member}`" for member in returns.get("properties", ()))
    return name, f"| [`{name}`]({page}) | {arguments} | {members} |"


def _required_first(names: Iterable[str], required: set[str]) -> Sequence[str]:
    return sorted(names, key=lambda name: name not in required)


def oauth_errors() -> str:
    """Return the table of the OAuth error codes."""
    rows = [
        f"| `{kind.code}` | {401 if kind is InvalidClient else 400} "
        f"| {cell((inspect.getdoc(kind) or '').partition(chr(10))[0])} |"
        for kind in OAuthError.__subclasses__()
    ]
    return "\n".join(["| Code | Status | Meaning |", "|---|---|---|", *rows])
