"""Render the parts of the reference that are derived from the content plugins, as Markdown."""

from __future__ import annotations

import inspect
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import FetchFailed, FetchRefused, FetchUnknown, McpTool
from pressroom.testing.running import settings_for_test
from pressroom_account.plugin import pressroom_mcp_tools as account_tools
from pressroom_content.contract import BUILTIN, JsonResponse, SiteConnector, SiteErrors
from pressroom_content.plugin import pressroom_mcp_tools as content_tools
from pressroom_content.rendering.sanitising import FRAME_HOSTS, RULES, SCHEMES
from pressroom_content.websites.connectors import connectors
from pressroom_images.plugin import pressroom_mcp_tools as image_tools
from pressroom_search_performance.plugin import pressroom_mcp_tools as search_tools
from pressroom_seo.plugin import pressroom_mcp_tools as seo_tools
from pressroom_seo.scoring import PROFILES, rule_set
from pressroom_seo.scoring.checks import ARTICLE_CHECKS
from pressroom_seo.scoring.rules import Rule

from support import fidelity
from support.doc_examples import DOCS, blocks
from support.reference_settings import cell

# Errors of websites

_NoResponse = FetchFailed | FetchRefused | FetchUnknown

_NO_RESPONSES: Final[Mapping[str, tuple[_NoResponse, _NoResponse]]] = {
    "No connection, or the request was not sent": (FetchFailed(""), FetchFailed("")),
    "No complete response in time": (FetchFailed(""), FetchUnknown("")),
    "A response of more than 16 MiB": (FetchRefused(""), FetchUnknown("")),
    "The URL may not be fetched, such as one in a private network": (FetchRefused(""), FetchRefused("")),
}
"""Exceptions of the server's fetcher, for requests that read and for requests that write."""

_STATUSES: Final = range(200, 600)


def site_errors() -> str:
    """Return a table of the errors that `SiteApi` raises, by response, for requests that read and that write."""
    policy = SiteErrors()
    rows = [
        (case, *(_named(policy.no_response("", error)) for error in errors)) for case, errors in _NO_RESPONSES.items()
    ]
    page = {status: _response(status, None) for status in _STATUSES}
    responses = {status: _response(status, {}) for status in _STATUSES}
    raised = {status: _raised(policy, response) for status, response in responses.items()}
    for hundred in range(2, 6):
        statuses = [status for status in _STATUSES if status // 100 == hundred]
        (usual, _), *others = Counter(raised[status] for status in statuses).most_common()
        for error, _ in others:
            rows.append((", ".join(f"`{status}`" for status in statuses if raised[status] == error), *error))
        name = f"{'any other ' if others else ''}{hundred}xx{' with JSON, or without a body' if hundred == 2 else ''}"
        rows.append((name[:1].upper() + name[1:], *usual))
        if hundred == 2:
            rows.append(("2xx with anything else, such as a web page", *_raised(policy, page[200])))
    heads = ["| Response | to `GET` | to `POST`, `PUT`, `PATCH` and `DELETE` |", "|---|---|---|"]
    return "\n".join([*heads, *(f"| {' | '.join(row)} |" for row in rows)])


def _response(status: int, body: Any) -> JsonResponse:
    return JsonResponse(status, {}, "application/json" if body is not None else "text/html", body, "", 2, empty=False)


def _raised(policy: SiteErrors, response: JsonResponse) -> tuple[str, ...]:
    return tuple(_named(policy.failure("", method, response)) for method in ("GET", "POST"))


def _named(error: Exception | None) -> str:
    return "no error" if error is None else f"[`{type(error).__name__}`](#{type(error).__name__.lower()})"


# Checks of articles


def article_checks() -> str:
    """Return a table for each group of checks, the gates, and the changes made by profiles."""
    rules = rule_set()
    total = sum(rule.weight for rule in rules.rules.values())
    lines: list[str] = []
    for group, members in groupby(rules.rules.values(), key=lambda rule: rule.group):
        lines += [f"## {group.capitalize()}", ""]
        lines += ["| Check | Question | Good | Weight | Gain | Source of the limit |", "|---|---|---|---|---|---|"]
        lines += [_check(rule, total) for rule in members]
        lines.append("")
    return "\n".join([*lines, *_gates(), *_profiles()])


def _check(rule: Rule, total: int) -> str:
    question = cell((inspect.getdoc(ARTICLE_CHECKS[rule.id].judge) or "").partition("\n")[0])
    gain = f"{100 * rule.weight / total:.1f}" if rule.weight else "advice"
    return f"| `{rule.id}` | {question} | {cell(rule.threshold)} | {rule.weight} | {gain} | {cell(rule.source)} |"


def _gates() -> Iterator[str]:
    yield from ("## Gates", "", "| Gate | Condition | Maximum score | Lifted by |", "|---|---|---|---|")
    for gate in rule_set().gates:
        lifted = ", ".join(f"`{name}`" for name in gate.lifted_by)
        yield f"| `{gate.id}` | {cell(gate.message)} | {gate.cap} | {lifted} |"
    yield ""


def _profiles() -> Iterator[str]:
    default_rules = rule_set().rules
    yield from ("## Profiles", "", "| Profile | Check | Good | Weight |", "|---|---|---|---|")
    for name in PROFILES:
        for rule in rule_set(name).rules.values():
            if rule != default_rules[rule.id]:
                yield f"| `{name}` | `{rule.id}` | {cell(rule.threshold)} | {rule.weight} |"


# Tools

_GROUPS: Final = {
    "Articles, websites and publishing": content_tools,
    "Scores, checks and crawls": seo_tools,
    "Images": image_tools,
    "Search performance": search_tools,
    "Account": account_tools,
}


def article_tools() -> str:
    """Return a section for each tool that is not a generator, with its arguments, grouped by plugin."""
    plans = _plans()
    lines: list[str] = []
    for title, tools in _GROUPS.items():
        lines += [f"## {title}", ""]
        for tool in sorted(tools(), key=lambda tool: tool.name):
            lines += _tool(tool, plans)
    return "\n".join(lines)


def _tool(tool: McpTool, plans: Mapping[str, list[str]]) -> Iterator[str]:
    plan = next(name for name, tools in plans.items() if any(fnmatchcase(tool.name, pattern) for pattern in tools))
    yield from (f"### {tool.name}", "", cell(tool.description), "")
    hints = [
        text
        for applies, text in (
            (tool.annotations.read_only, "read-only"),
            (tool.annotations.destructive, "destructive"),
            (tool.annotations.idempotent, "safe to repeat"),
            (tool.annotations.open_world, "contacts other servers"),
        )
        if applies
    ]
    parts = [f"Plan: `{plan}`", f"quota: `{tool.quota}`" if tool.quota else "", ", ".join(hints)]
    if tool.aliases:
        parts.append("also called " + ", ".join(f"`{alias}`" for alias in tool.aliases))
    yield from ("; ".join(part for part in parts if part) + ".", "")
    schema = tool.params.model_json_schema()
    if not schema.get("properties"):
        yield from ("It has no arguments.", "")
        return
    yield from ("| Argument | Type | Default | What it is |", "|---|---|---|---|")
    required = set(schema.get("required", ()))
    for name, field in schema["properties"].items():
        default = "required" if name in required else _default(field)
        kind = "depends on the server" if name in tool.choices else _kind(field, schema)
        yield f"| `{name}` | {kind} | {default} | {cell(_description(field, schema))} |"
    yield ""


def _plans() -> dict[str, list[str]]:
    page = (DOCS / "how-to/content-plans.md").read_text()
    block = next(block.text for block in blocks(page) if block.language == "toml")
    return {name: plan["tools"] for name, plan in tomllib.loads(block)["plans"].items()}


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    if value is None or value in ("", [], {}):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _description(field: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return an argument's description. For objects, append the names of the members."""
    text = str(field.get("description", ""))
    model = next((option for option in _options(field, root) if "properties" in option), None)
    if model is None and "items" in field:
        model = next((option for option in _options(field["items"], root) if "properties" in option), None)
    if model is None:
        return text
    return f"{text} Members: {', '.join(model['properties'])}."


def _kind(field: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_name(option, root) for option in _options(field, root)))


def _options(field: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    options = [_resolved(option, root) for option in field.get("anyOf") or field.get("oneOf") or [field]]
    return [option for option in options if option.get("type") != "null"]


def _resolved(field: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = field.get("$ref")
    if reference is None and len(field.get("allOf", ())) == 1:
        reference = field["allOf"][0].get("$ref")
    return root["$defs"][reference.rpartition("/")[2]] if reference else field


def _name(field: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if isinstance(field.get("type"), list):
        return " or ".join(field["type"])
    kind = str(field.get("type", "any"))
    if kind == "array":
        return f"list of {_kind(field.get('items', {}), root)}"
    if kind in ("integer", "number"):
        low, high = field.get("minimum"), field.get("maximum")
        return kind if low is None or high is None else f"{kind}, {low} to {high}"
    if kind == "string" and field.get("format"):
        return f"string ({field['format']})"
    return kind


# Fidelity


def fidelity_table() -> str:
    """Return the fidelity of each construct on the platforms that tests publish on."""
    platforms = ("wordpress", "ghost", "git", BUILTIN, "webhook")
    known = {platform.platform: platform for platform in _platforms()}
    return fidelity.table([known[name] for name in platforms])


# Kept HTML


def kept_html() -> str:
    """Return the format sent to each platform, and the elements and attributes that are kept."""
    lines = ["## Platforms", "", "| Platform | What it is sent | Rules |", "|---|---|---|"]
    for platform in sorted(_platforms(), key=lambda connector: connector.platform):
        sent = "Markdown; HTML where the article is written in it" if platform.markdown else "HTML"
        lines.append(f"| {platform.title} (`{platform.platform}`) | {sent} | {platform.sanitiser} |")
    full, basic = RULES["full"], RULES["basic"]
    lines += ["", "## Elements", "", "| Element | full | basic | Attributes |", "|---|---|---|---|"]
    for tag in sorted(full.tags):
        attributes = ", ".join(f"`{name}`" for name in sorted(full.attributes.get(tag, ())))
        lines.append(f"| `{tag}` | yes | {'yes' if tag in basic.tags else 'no'} | {attributes} |")
    everywhere = ", ".join(f"`{name}`" for name in sorted(full.attributes["*"]))
    lines += ["", f"Every element keeps {everywhere}.", ""]
    lines += ["## URLs", ""]
    lines += [f"Links begin with {_listed(sorted(f'{scheme}:' for scheme in SCHEMES))}, or are paths.", ""]
    hosts = _listed(sorted(FRAME_HOSTS))
    lines += [f"An `iframe` stays if its URL is https and its host is one of these: {hosts}."]
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _platforms() -> list[SiteConnector]:
    """Return the connectors of every platform in this repository."""
    names = ("content", "devto", "ghost", "git", "webhook", "wordpress")
    with TemporaryDirectory() as folder:
        compiled = LoadedApp(settings_for_test({"plugins": {name: {} for name in names}}, Path(folder)))
        return list(connectors(compiled.plugins.contexts["content"]).values())
