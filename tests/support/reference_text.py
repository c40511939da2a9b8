"""Render the parts of the reference that are derived from the code, as Markdown.

Each part is in its page between `<!-- begin NAME -->` and `<!-- end NAME -->`. Run
`PRESSROOM_TEST_UPDATE=1 pytest tests/docs/test_reference.py` to regenerate them.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, Final, ForwardRef, is_typeddict

import click
from pressroom import errors, hookspecs, sdk
from pressroom.cli import pressroom as command
from pressroom.errors import CallError
from pressroom.http.errors import STATUS
from pressroom.observability.metrics import Metrics
from pressroom.plugins.contributions import RECORD_TYPES
from pressroom.testing.contracts import SUITES
from pressroom_content import contract as content_contract
from pressroom_content.contract.hookspecs import ContentHooks
from pressroom_content.testing import SUITES as CONTENT_SUITES
from pressroom_image_generator import templates as image_templates
from pressroom_image_generator.templates import ImageTemplateHooks
from pressroom_search_performance import contract as search_contract
from pressroom_search_performance.contract import SearchPerformanceHooks
from pressroom_search_performance.testing import SUITES as FIGURES_SUITES

from support import reference_interface, reference_testing
from support.reference_content import article_checks, article_tools, fidelity_table, kept_html, site_errors
from support.reference_fields import attribute_docstrings, fields_apart
from support.reference_settings import cell, code_brackets, plugin_settings, settings

# Command line


def command_line() -> str:
    """Return a section for each command, with its arguments and options."""
    return "\n".join(_command(command, ("pressroom",), None))


def _command(cmd: click.Command, path: tuple[str, ...], parent: click.Context | None) -> Iterator[str]:
    ctx = click.Context(cmd, parent, info_name=path[-1], **cmd.context_settings)
    is_extension = path == ("pressroom", "x")
    parts = [*path, *(["PLUGIN COMMAND [ARGS]..."] if is_extension else cmd.collect_usage_pieces(ctx))]
    yield f"## `{' '.join(path)}`"
    yield ""
    yield f"`{' '.join(parts)}`"
    yield ""
    yield code_brackets(inspect.cleandoc(cmd.help or ""))
    yield ""
    rows = [record for parameter in cmd.get_params(ctx) if (record := parameter.get_help_record(ctx)) and record[1]]
    if rows:
        yield "| Option | What it does |"
        yield "|---|---|"
        yield from (f"| `{name}` | {cell(' '.join(text.split()))} |" for name, text in rows)
        yield ""
    if isinstance(cmd, click.Group) and not is_extension:
        for name in cmd.list_commands(ctx):
            child = cmd.get_command(ctx, name)
            assert child is not None
            yield from _command(child, (*path, name), ctx)


# Hooks and SDK


def hooks() -> str:
    """Return a section for each hook: its signature, its record type, and its docstring with the example."""
    lines: list[str] = []
    for name, function in hook_functions():
        lines += [f"## {name}", "", "```python", f"def {name}{_signature(function)}: ...", "```", ""]
        lines += [_skip_examples(docstring(function), "tests/docs/test_hooks.py loads it"), ""]
    return _skip_signatures("\n".join(lines))


def hook_functions() -> list[tuple[str, Callable[..., Any]]]:
    """Return every hook, in order of definition."""
    return [(name, vars(hookspecs)[name]) for name in RECORD_TYPES]


def offered_hooks() -> list[tuple[str, Callable[..., Any]]]:
    """Return every hook that a built-in plugin offers to other plugins, in the order of the reference."""
    return [hook for hook_class, _ in _OFFERED.values() for hook in _hooks_of(hook_class)]


def _hooks_of(hook_class: type) -> list[tuple[str, Callable[..., Any]]]:
    return [(name, function) for name, function in vars(hook_class).items() if name.startswith("pressroom_")]


def plugin_hooks() -> str:
    """Return a section for each plugin that offers hooks: the hooks, then the types used in their records."""
    lines: list[str] = []
    for title, (hook_class, package) in _OFFERED.items():
        lines += [f"## {title}", "", f"The names are in `{package.__name__}`, version {package.CONTRACT_VERSION}.", ""]
        for name, function in _hooks_of(hook_class):
            signature = _signature(function).replace("self, ", "")
            lines += [f"### {name}", "", "```python", f"def {name}{signature}: ...", "```", ""]
            lines += [_skip_examples(docstring(function), "tests/docs/test_plugin_hooks.py loads it"), ""]
        for name, value, module in _contract(package, hook_class):
            lines += [f"### {name}", "", *_entry(name, value, module)]
    return _skip_signatures("\n".join(lines))


_OFFERED: Final[Mapping[str, tuple[type, ModuleType]]] = {
    "Content": (ContentHooks, content_contract),
    "Search performance": (SearchPerformanceHooks, search_contract),
    "Image generator": (ImageTemplateHooks, image_templates),
}


def _contract(package: ModuleType, hook_class: type) -> Iterator[tuple[str, Any, str]]:
    """Yield the public names of a plugin's contract, each with its value and defining module."""
    modules = [sys.modules[name] for name in sorted(sys.modules) if name.startswith(package.__name__)]
    defined = {name: module.__name__ for module in modules for name in _defined_in(module)}
    public = getattr(package, "__all__", None) or [
        name for name in defined if isinstance(vars(package).get(name), type) or name == "Competition"
    ]
    for name in sorted(public, key=lambda name: (defined[name], name)):
        if vars(package)[name] is not hook_class:
            yield name, vars(package)[name], defined[name]


def _defined_in(module: ModuleType) -> Iterator[str]:
    for node in ast.parse(inspect.getsource(module)).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def sdk_names() -> str:
    """Return a section for each public name of the SDK, by module."""
    by_module: dict[str, list[str]] = {}
    homes = _homes()
    for name in sdk.__all__:
        by_module.setdefault(homes[name], []).append(name)
    lines: list[str] = []
    for module in sorted(by_module, key=_MODULES.index):
        doc = inspect.getdoc(sys.modules[module]) or ""
        lines += [f"## {_TITLES[module]}", "", code_brackets(doc.partition("\n\n")[0]), ""]
        if module == errors.__name__:
            lines[-2] = "The errors that a plugin raises or catches. To refuse a call, raise a suitable `CallError`."
        for name in by_module[module]:
            lines += [f"### {name}", "", *_entry(name, getattr(sdk, name), module)]
    return _skip_signatures("\n".join(lines))


_TITLES: Final = {
    "pressroom.sdk.plugin": "Plugins",
    "pressroom.sdk.generator": "Generators",
    "pressroom.sdk.page": "Pages of generators",
    "pressroom.sdk.page_templates": "Page templates",
    "pressroom.sdk.mcp_tool": "MCP tools",
    "pressroom.sdk.declaration": "Executors and parameters",
    "pressroom.sdk.call": "Calls and results",
    "pressroom.sdk.data": "Database, accounts and storage",
    "pressroom.sdk.jobs": "Background work",
    "pressroom.sdk.services": "Fetching, worker processes and tools of others",
    "pressroom.sdk.shared": "Shared by all tools",
    "pressroom.sdk.routes": "Routes, pages and host names",
    "pressroom.sdk.static_files": "Static files",
    "pressroom.sdk.multipart": "Forms with files",
    "pressroom.sdk.dashboard": "Pages of the dashboard",
    "pressroom.sdk.middleware": "Call middleware",
    "pressroom.sdk.backends": "Backends",
    "pressroom.sdk.deprecation": "Deprecations",
    "pressroom.errors": "Errors",
}
_MODULES: Final = list(_TITLES)


def _homes() -> dict[str, str]:
    """Return the defining module of each public name."""
    homes: dict[str, str] = {}
    for module in _MODULES:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
        for node in tree.body:
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                    homes[name] = module
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    homes[name] = module
    return homes


def _entry(name: str, value: Any, module: str) -> list[str]:
    if inspect.isclass(value) and dataclasses.is_dataclass(value):
        fields = [field for field in dataclasses.fields(value) if not field.name.startswith("_")]
        members = [f"    {field.name}: {_annotation(field.type)}{_field_default(field)}" for field in fields]
        methods = [textwrap.indent(method, "    ") for method in _methods(value)]
        body = [*members, "", *methods] if methods else members
        description = fields_apart(docstring(value), [field.name for field in fields])
        return ["```python", f"class {name}:", *body, "```", "", description, ""]
    if inspect.isclass(value):
        bases = (
            "TypedDict"
            if is_typeddict(value)
            else ", ".join(base.__name__ for base in value.__bases__ if base is not object)
        )
        head = f"class {name}({bases}):" if bases else f"class {name}:"
        declarations = _attributes(value) + _methods(value)
        while declarations and not declarations[-1]:
            declarations.pop()
        body = [textwrap.indent(declaration, "    ") for declaration in declarations] or ["    ..."]
        code = getattr(value, "code", "")
        note = [f"Its code is `{code}`.", ""] if module == errors.__name__ and code else []
        description = fields_apart(
            docstring(value), [name for name in vars(value).get("__annotations__", {}) if not name.startswith("_")]
        )
        return ["```python", head, *body, "```", "", description, "", *note]
    if inspect.isfunction(value):
        return ["```python", f"def {name}{_signature(value)}: ...", "```", "", docstring(value), ""]
    source, doc = _assignment(name, module)
    return ["```python", source, "```", "", doc, ""]


def _inner_docstring(member: Any) -> str:
    return textwrap.indent(f'"""{docstring(member)}"""', "    ")


def _returned(member: property) -> str:
    return str(inspect.signature(member.fget).return_annotation) if member.fget else "Any"


def _attributes(value: type) -> list[str]:
    """Return the annotated attributes of a class, such as a protocol's, with their attribute docstrings."""
    docs = attribute_docstrings(value)
    lines: list[str] = []
    for name, kind in vars(value).get("__annotations__", {}).items():
        if not name.startswith("_"):
            default = f" = {_literal(vars(value)[name])}" if name in vars(value) else ""
            lines.append(f"{name}: {_annotation(kind)}{default}")
            lines += [f'"""{docs[name]}"""'] if name in docs else []
    return [*lines, ""] if lines else []


def _methods(value: type) -> list[str]:
    lines = []
    for name, member in vars(value).items():
        if isinstance(member, property) and not name.startswith("_"):
            lines += ["@property", f"def {name}(self) -> {_returned(member)}:", _inner_docstring(member), ""]
        if isinstance(member, classmethod) and not name.startswith("_"):
            lines += ["@classmethod", f"def {name}{_signature(member.__func__)}:"]
            lines += [_inner_docstring(member), ""]
        if inspect.isfunction(member) and not name.startswith("_"):
            prefix = "async def" if inspect.iscoroutinefunction(member) else "def"
            lines += [f"{prefix} {name}{_signature(member)}:", _inner_docstring(member), ""]
        elif name == "__init__" and inspect.isfunction(member) and value.__module__ == errors.__name__:
            lines += [f"def __init__{_signature(member)}: ...", ""]
    return lines[:-1] if lines and not lines[-1] else lines


def _field_default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        default = field.default
        return f" = {_literal(default)}"
    return (
        f" = {getattr(field.default_factory, '__name__', '…')}()"
        if field.default_factory is not dataclasses.MISSING
        else ""
    )


def _literal(value: Any) -> str:
    if inspect.isfunction(value):
        return value.__name__
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and value == _of_defaults(type(value)):
        return f"{type(value).__name__}()"
    return f'"{value}"' if isinstance(value, str) else 'b""' if value == b"" else repr(value)


def _of_defaults(kind: type) -> Any:
    try:
        return kind()
    except TypeError:
        return None


def _assignment(name: str, module: str) -> tuple[str, str]:
    """Return the source of an assignment and the docstring below it."""
    source = inspect.getsource(sys.modules[module])
    body = ast.parse(source).body
    for node, next_node in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.Assign(targets=[ast.Name(id=found)]) | ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                text = ast.get_source_segment(source, node) or ""
                match next_node:
                    case ast.Expr(value=ast.Constant(value=str(doc))):
                        return text, inspect.cleandoc(doc)
                return text, ""
    raise LookupError(name)


def _annotation(kind: Any) -> str:
    if isinstance(kind, ForwardRef):
        return kind.__forward_arg__
    return kind if isinstance(kind, str) else inspect.formatannotation(kind)


def _signature(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    returned = _annotation(signature.return_annotation).replace("'", '"')
    if hasattr(function, "__wrapped__") and (yielded := re.fullmatch(r"(?:Async)?Iterator\[(.*)\]", returned)):
        kind = "AbstractAsyncContextManager" if returned.startswith("Async") else "AbstractContextManager"
        returned = f"{kind}[{yielded[1]}]"
    parts, keyword_only = [], False
    for param in signature.parameters.values():
        if param.kind is param.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
        keyword_only = keyword_only or param.kind in (param.KEYWORD_ONLY, param.VAR_POSITIONAL)
        star = "*" if param.kind is param.VAR_POSITIONAL else "**" if param.kind is param.VAR_KEYWORD else ""
        annotation = _annotation(param.annotation).replace("'", '"')
        kind = f": {annotation}" if param.annotation is not param.empty else ""
        parts.append(f"{star}{param.name}{kind}{_parameter_default(param, bool(kind))}")
    return f"({', '.join(parts)})" + (f" -> {returned}" if signature.return_annotation is not signature.empty else "")


def _parameter_default(parameter: inspect.Parameter, spaced: bool) -> str:
    if parameter.default is parameter.empty:
        return ""
    return f" = {_literal(parameter.default)}" if spaced else f"={_literal(parameter.default)}"


def docstring(value: Any) -> str:
    """Return a docstring as Markdown: its sections become lists, its examples code blocks."""
    doc = inspect.cleandoc(value.__doc__ or "")
    lines: list[str] = []
    for paragraph in re.split(r"\n(?=(?:Example|Raises|Returns|Args):\n)", doc):
        heading, colon, rest = paragraph.partition(":\n")
        if not colon or heading not in ("Example", "Raises", "Returns", "Args"):
            lines.append(paragraph.strip())
        elif heading == "Example":
            lines.append(textwrap.dedent(rest).strip())
        else:
            items = re.split(r"\n(?=\S)", textwrap.dedent(rest).strip())
            text = "\n".join(f"- {' '.join(item.split())}" for item in items)
            lines.append(f"{heading}:\n\n{text}")
    return "\n\n".join(lines)


def _skip_examples(text: str, reason: str) -> str:
    return text.replace("```python\n", f"<!-- example: skip, {reason} -->\n```python\n")


def _skip_signatures(text: str) -> str:
    return re.sub(r"(?<!-->\n)^```python$", "<!-- example: skip, a signature -->\n```python", text, flags=re.MULTILINE)


# Errors and metrics


def error_codes() -> str:
    """Return the table of error codes with their statuses, and the first sentences of the docstrings.

    The others describe the Python classes, whose attributes are not what clients see.
    """
    kinds = {kind.code: kind for kind in _kinds(CallError) if kind.__module__ == CallError.__module__}
    rows = [f"| `{code}` | {status} | {cell(_first_sentence(kinds[code]))} |" for code, status in STATUS.items()]
    return "\n".join(["| `error.code` | Status | Meaning |", "|---|---|---|", *rows])


def _first_sentence(kind: type[CallError]) -> str:
    line = (inspect.getdoc(kind) or "").partition("\n")[0]
    return f"{line.removesuffix('.').partition('. ')[0]}."


def _kinds(kind: type[CallError]) -> Iterator[type[CallError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _kinds(child)


class _Executors:
    def queue_length(self, executor: str) -> int:
        del executor
        return 0

    def running(self, executor: str) -> int:
        del executor
        return 0


class _Plugins:
    def failures_of_templates(self) -> dict[str, int]:
        return {}

    def failures_of_plugins(self) -> dict[tuple[str, str, str], int]:
        return {}

    def active_plugins(self) -> dict[str, bool]:
        return {}


def metrics() -> str:
    """Return the table of the host's own metrics."""
    registry = Metrics(["tool"], _Executors(), lambda: True, _Plugins()).registry
    rows = []
    families = [
        (collector, family) for collector in list(registry._collector_to_names) for family in collector.collect()
    ]
    for collector, family in families:
        if not family.name.startswith("pressroom_"):
            continue
        names: Sequence[str] = getattr(collector, "_labelnames", None) or getattr(family, "_labelnames", None) or ()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        rows.append(
            f"| `{name}` | {family.type} | {', '.join(f'`{label}`' for label in names)} | {family.documentation} |"
        )
    return "\n".join(["| Name | Type | Labels | What it measures |", "|---|---|---|---|", *rows])


def contracts() -> str:
    """Return the promises of each contract."""
    lines: list[str] = []
    for suite in (*SUITES, *CONTENT_SUITES, *FIGURES_SUITES):
        lines += [f"## {suite.contract.capitalize()}", "", "| Name | Promise | How to fix it |", "|---|---|---|"]
        for promise in suite.promises:
            needs = f" (*{', '.join(sorted(promise.needs))}*)" if promise.needs else ""
            lines.append(f"| `{promise.name}` | {cell(promise.text)}{needs} | {cell(promise.fix)} |")
        lines.append("")
    return "\n".join(lines)


PARTS: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "settings": ("reference/configuration.md", settings),
    "plugin-settings": ("reference/plugin-settings.md", plugin_settings),
    "commands": ("reference/command-line.md", command_line),
    "hooks": ("reference/hooks.md", hooks),
    "plugin-hooks": ("reference/plugin-hooks.md", plugin_hooks),
    "site-errors": ("reference/plugin-hooks.md", site_errors),
    "sdk": ("reference/sdk.md", sdk_names),
    "contracts": ("reference/contracts.md", contracts),
    "testing-fixtures": ("reference/testing.md", reference_testing.fixtures),
    "testing-names": ("reference/testing.md", lambda: _skip_signatures(reference_testing.names(_entry))),
    "errors": ("reference/http-api.md", error_codes),
    "metrics": ("reference/metrics.md", metrics),
    "article-checks": ("reference/seo-checks.md", article_checks),
    "article-tools": ("reference/article-tools.md", article_tools),
    "fidelity": ("reference/fidelity.md", fidelity_table),
    "kept-html": ("reference/kept-html.md", kept_html),
    "interface-errors": ("reference/interface.md", error_codes),
    "interface-oauth-errors": ("reference/interface.md", reference_interface.oauth_errors),
    "interface-template-props": ("reference/interface.md", reference_interface.template_props),
    "interface-tools": ("reference/interface.md", reference_interface.tools),
    **{
        f"interface-{slug}": ("reference/interface.md", partial(reference_interface.parameters, slug))
        for slug in reference_interface.GENERATORS
    },
}
"""The generated parts: the page and the renderer of each."""
