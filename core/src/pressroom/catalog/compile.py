"""Compilation of contributions into the catalog, once, at start-up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, create_model

from pressroom.catalog.schema import file_schema, mcp_schema, output_schema, parameter_list
from pressroom.catalog.tool import ANONYMOUS, Catalog, LimitRule, PlanTool, PlanView, PlanViews, Tool, needed_access
from pressroom.config.account_models import AccountsSettings
from pressroom.config.call_models import PlanSettings, ToolSettings
from pressroom.config.models import Settings
from pressroom.config.values import parse_rate
from pressroom.errors import PluginError
from pressroom.gate import PluginCall, PluginGate
from pressroom.gate.failures import describe_value, squeezed
from pressroom.graphics.font_sources import folders_revision
from pressroom.plugins.contributions import Contribution, Contributions, shape_problems
from pressroom.plugins.discovery import HOST_ID
from pressroom.sdk import CachePolicy, CacheRule, Generator, McpTool, Params, PluginContext, Rate, RateLimit, ToolInfo
from pressroom.sdk.declaration import GENERATORS
from pressroom.validation.echo import nearest

Shared = TypeVar("Shared", RateLimit, CacheRule)

GENERATE = "/generate"
"""The only endpoint of a generator, relative to the URL of its API."""


def compile_catalog(
    contributions: Contributions,
    contexts: Mapping[str, PluginContext],
    settings: Settings,
    gate: PluginGate,
) -> Catalog:
    """Return the catalog of everything that is enabled. Code of plugins is called through the gate.

    Raises:
        ConfigError: A folder of fonts cannot be read.
        PluginFailed: A plugin failed; the rest can be compiled without its contributions.
    """
    declared: list[Contribution[Generator] | Contribution[McpTool]] = [
        *contributions.of(Generator),
        *contributions.of(McpTool),
    ]
    fonts = folders_revision(settings.graphics.fonts)
    tools, unavailable = {}, {}

    def contained(plugin: str, point: str, name: str) -> AbstractContextManager[None]:
        if plugin == HOST_ID:
            return nullcontext()
        return gate.loading(PluginCall(plugin, point, name), settings.server.start_timeout)

    limits = in_force(contributions, RateLimit, settings.limits.default_limit)
    cache_rules = in_force(contributions, CacheRule, settings.cache.default_rule)
    rules = _Rules(limits, cache_rules, contained)
    for contribution in declared:
        with contained(contribution.plugin, "tool", contribution.record.name):
            tool = replace(_tool(contribution, contexts, settings, fonts), answerable=_answerable(contribution, gate))
            _check_schemas(tool)
            reason = _unavailability_reason(tool)
        tools[tool.name] = tool
        if reason:
            unavailable[tool.name] = reason
    switched_on = [name for name in sorted(tools) if _settings_of(settings, tools[name].declaration).enabled]
    on = {name: tools[name] for name in switched_on if name not in unavailable}
    plans = {ANONYMOUS: PlanSettings(), settings.accounts.default_plan: PlanSettings()} | settings.plans
    return Catalog(
        tools=MappingProxyType(on),
        mcp_tools=MappingProxyType({tool.mcp_name: tool for tool in on.values() if tool.mcp_name}),
        plans=PlanViews({plan: _plan_view(plan, of_plan, on.values(), rules) for plan, of_plan in plans.items()}),
        unavailable=MappingProxyType({name: unavailable[name] for name in switched_on if name in unavailable}),
        warnings=(
            *_unknown_names(settings, tools),
            *_undefined_default_plan(settings),
            *_without_effect(settings, limits, cache_rules),
        ),
    )


def in_force(
    contributions: Contributions, record_type: type[Shared], chosen_name: str
) -> tuple[Contribution[Shared], ...]:
    """Return the rate limits or cache rules that apply, given the one that the operator chose.

    The host's own is left out only if a plugin offers the chosen one, so that a misspelt name never leaves tools
    without a limit.
    """
    offered = contributions.of(record_type)
    offering = {contribution.plugin for contribution in offered if contribution.record.name == chosen_name}
    if HOST_ID in offering or not offering:
        return offered
    return tuple(contribution for contribution in offered if contribution.plugin != HOST_ID)


def _tool(
    contribution: Contribution[Generator] | Contribution[McpTool],
    contexts: Mapping[str, PluginContext],
    settings: Settings,
    fonts: str,
) -> Tool:
    declaration, context = contribution.record, contexts[contribution.plugin]
    wrapper_contexts = [contexts[plugin] for plugin in contribution.wrapped_by]
    if isinstance(declaration, Generator):
        name, mcp_name = declaration.slug, declaration.mcp.name if declaration.mcp else ""
        cache_discount, revision = declaration.cache_discount, declaration.cache_revision
        quota = declaration.mcp.quota if declaration.mcp else ""
    else:
        name = mcp_name = declaration.name
        cache_discount, revision, quota = 1.0, "", declaration.quota
    tool_settings = _settings_of(settings, declaration)
    params = _params(declaration, context)
    return Tool(
        name=name,
        mcp_name=mcp_name,
        declaration=declaration,
        info=ToolInfo(
            name=name,
            kind="generator" if isinstance(declaration, Generator) else "mcp",
            plugin=contribution.plugin,
            toolsets=_toolsets(declaration, contribution.plugin),
            tags=declaration.tags if isinstance(declaration, Generator) else (),
            rate_limit=parse_rate(tool_settings.rate_limit) if tool_settings.rate_limit else declaration.rate_limit,
            cache_discount=cache_discount,
        ),
        plugin_version=context.version,
        context=context,
        params=params,
        mcp_schema=MappingProxyType(mcp_schema(declaration, params)),
        timeout=tool_settings.timeout or declaration.timeout,
        content_salt=_content_salt(name, [context, *wrapper_contexts], revision + fonts),
        access=needed_access(declaration),
        extensions=_extensions(declaration),
        quota=quota,
    )


def _extensions(declaration: Generator | McpTool) -> Mapping[str, str]:
    if not isinstance(declaration, Generator):
        return MappingProxyType({})
    return MappingProxyType({media_type: declaration.extension_of(media_type) for media_type in declaration.produces})


def _toolsets(declaration: Generator | McpTool, plugin: str) -> tuple[str, ...]:
    """Return the toolsets of a tool; a tool without any is in the toolset named after its plugin."""
    if isinstance(declaration, Generator):
        toolsets = declaration.mcp.toolsets if declaration.mcp else (GENERATORS,)
    else:
        toolsets = declaration.toolsets
    return tuple(dict.fromkeys(toolsets)) or (plugin,)


def _params(declaration: Generator | McpTool, context: PluginContext) -> type[Params]:
    """Return the model of a tool's arguments, including choices that depend on this server."""
    model = declaration.params
    choices = declaration.choices if isinstance(declaration, McpTool) else {}
    if not choices:
        return model
    return _with_choices(
        model,
        tuple(
            (name, _choices(f"choices of {declaration.name}, {name},", choose(context)))
            for name, choose in choices.items()
        ),
    )


@lru_cache(maxsize=256)
def _with_choices(model: type[Params], choices: tuple[tuple[str, tuple[str, ...]], ...]) -> type[Params]:
    """Return the model with its fields restricted to choices; equal choices give the same class."""
    fields: dict[str, Any] = {}
    for name, values in choices:
        declared = model.model_fields[name]
        default = ... if declared.is_required() else declared.default
        accepted: Any = Literal[values]
        if declared.annotation == list[str]:
            accepted = list[accepted]
        names: dict[str, Any] = {"alias": declared.alias, "validation_alias": declared.validation_alias}
        fields[name] = (accepted, Field(default, description=declared.description, **names))
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields)


def _choices(subject: str, returned: object) -> tuple[str, ...]:
    choices = () if isinstance(returned, str) or not isinstance(returned, Iterable) else tuple(dict.fromkeys(returned))
    if not choices or not all(isinstance(choice, str) and choice for choice in choices):
        raise PluginError(f"{subject} must return at least one text, it returned {describe_value(returned)}")
    return choices


def _check_schemas(tool: Tool) -> None:
    """Build the schemas that lists of tools consist of, so that a bad schema fails here and not in a list."""
    if isinstance(tool.declaration, Generator):
        parameter_list(tool.params)
        file_schema(tool.declaration.details)
    else:
        output_schema(tool.declaration.result)


def _unavailability_reason(tool: Tool) -> str:
    ask = tool.declaration.unavailable if isinstance(tool.declaration, McpTool) else None
    if ask is None:
        return ""
    reason = ask(tool.context)
    if not isinstance(reason, str):
        raise PluginError(f"unavailable of {tool.name} must return a text, it returned {describe_value(reason)}")
    return squeezed(reason)


def _answerable(contribution: Contribution[Generator] | Contribution[McpTool], gate: PluginGate) -> str:
    """Return the plugin whose function a tool runs: the plugin it came from, or one whose wrapper replaced it."""
    module = getattr(contribution.record.function, "__module__", "") or ""
    plugin = gate.code.packages.get(module.partition(".")[0], "")
    return plugin if plugin in contribution.wrapped_by else contribution.plugin


def _content_salt(name: str, contexts: Sequence[PluginContext], revision: str) -> bytes:
    """Return a salt that changes with everything that determines a result.

    `contexts` are those of the plugins whose code makes the result.
    """
    parts = [name, GENERATE]
    for context in contexts:
        config = context.config.model_dump_json() if isinstance(context.config, BaseModel) else ""
        parts += [context.version, revision, hashlib.sha256(config.encode()).hexdigest()]
    return "\n".join(parts).encode() + b"\n"


def _names_of(declaration: Generator | McpTool) -> tuple[str, ...]:
    """Return the names by which settings and plans can refer to a tool.

    A tool that was renamed keeps its old name as an alias: if an operator has switched it off, it stays off.
    """
    if isinstance(declaration, Generator):
        return (declaration.slug, declaration.mcp.name) if declaration.mcp else (declaration.slug,)
    return (declaration.name, *declaration.aliases)


def _settings_of(settings: Settings, declaration: Generator | McpTool) -> ToolSettings:
    named = (settings.tools[name] for name in _names_of(declaration) if name in settings.tools)
    return next(named, ToolSettings())


def _unknown_names(settings: Settings, tools: Mapping[str, Tool]) -> Iterator[str]:
    known = {*tools, *(tool.mcp_name for tool in tools.values() if tool.mcp_name)}
    aliases = {alias: name for name, tool in tools.items() for alias in _names_of(tool.declaration)}
    references = [(f"tools.{name}", name) for name in settings.tools]
    for plan, plan_settings in settings.plans.items():
        references += [(f"plans.{plan}.rate_limits.{name}", name) for name in plan_settings.rate_limits]
        references += [(f"plans.{plan}.tools", name) for name in plan_settings.tools if not {"*", "?"} & set(name)]
    cached = [name for name, own in settings.tools.items() if own.cache_seconds is not None and name in aliases]
    references += [(f"tools.{name}.cache_seconds", name) for name in cached]
    for key, name in references:
        if name in tools:
            continue
        if name not in aliases:
            similar = nearest(name, known)
            yield f"{key}: no active plugin offers {name!r}" + (f"; did you mean {similar!r}?" if similar else "")
        elif ".rate_limits." in key or key.endswith(".cache_seconds"):
            yield f"{key}: has no effect; the name to use here is {aliases[name]!r}"
        elif name not in known:
            yield f"{key}: {name!r} is an alias of {aliases[name]!r}"
    yield from _unknown_quotas(settings, {tool.quota for tool in tools.values() if tool.quota})


def _undefined_default_plan(settings: Settings) -> Iterator[str]:
    plan = settings.accounts.default_plan
    if plan not in (*settings.plans, AccountsSettings.model_fields["default_plan"].default):
        similar = nearest(plan, settings.plans)
        yield f"accounts.default_plan: without [plans.{plan}], new accounts have every tool and no quotas" + (
            f"; did you mean {similar!r}?" if similar else ""
        )


def _without_effect(
    settings: Settings, limits: Sequence[Contribution[RateLimit]], rules: Sequence[Contribution[CacheRule]]
) -> Iterator[str]:
    """Yield a warning for each setting without effect because the host's own limit or cache rule was replaced."""
    if not any(limit.plugin == HOST_ID for limit in limits):
        for plan, plan_settings in settings.plans.items():
            if plan_settings.rate_limits:
                yield f"plans.{plan}.rate_limits: has no effect beside [limits] default_limit"
    if not any(rule.plugin == HOST_ID for rule in rules):
        for name, tool_settings in settings.tools.items():
            if tool_settings.cache_seconds is not None:
                yield f"tools.{name}.cache_seconds: has no effect beside [cache] default_rule"


def _unknown_quotas(settings: Settings, known: Collection[str]) -> Iterator[str]:
    for plan, plan_settings in settings.plans.items():
        for quota in plan_settings.quotas:
            if quota not in known:
                similar = nearest(quota, known)
                yield f"plans.{plan}.quotas.{quota}: no tool of an active plugin counts against it" + (
                    f"; did you mean {similar!r}?" if similar else ""
                )


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rate limits and cache rules. `contained` takes the plugin, extension point and name of the code it guards."""

    limits: Sequence[Contribution[RateLimit]]
    cache: Sequence[Contribution[CacheRule]]
    contained: Callable[[str, str, str], AbstractContextManager[None]]


def _plan_view(
    plan: str,
    plan_settings: PlanSettings,
    tools: Iterable[Tool],
    rules: _Rules,
) -> PlanView:
    included = {
        tool.name: PlanTool(
            tool,
            _limits(tool, plan, rules),
            _cache_policy(tool, plan, rules),
            plan_settings.quotas.get(tool.quota),
        )
        for tool in tools
        if any(_matches(tool, pattern) for pattern in plan_settings.tools)
        and (plan != ANONYMOUS or tool.kind == "generator")
    }
    return PlanView(
        plan=plan,
        title=plan_settings.title or plan.capitalize(),
        tools=MappingProxyType(included),
        mcp_tools=MappingProxyType({entry.tool.mcp_name: entry for entry in included.values() if entry.tool.mcp_name}),
        quotas=MappingProxyType(dict(plan_settings.quotas)),
    )


def _matches(tool: Tool, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in _names_of(tool.declaration))


def _limits(tool: Tool, plan: str, rules: _Rules) -> tuple[LimitRule, ...]:
    limits = []
    for contribution in rules.limits:
        plugin, limit = contribution.plugin, contribution.record
        with rules.contained(plugin, "rate limit", limit.name):
            rate = limit.rate_for(tool.info, plan)
            if rate is not None and not isinstance(rate, Rate):
                raise PluginError(
                    f"rate limit {limit.name} must return a Rate or None, it returned {describe_value(rate)}"
                )
        if rate is not None:
            # Limits of different plugins must not share a counter merely because their names match.
            name = limit.name if plugin == HOST_ID else f"{plugin}: {limit.name}"
            limits.append(LimitRule(name, rate, limit.key))
    return tuple(limits)


def _cache_policy(tool: Tool, plan: str, rules: _Rules) -> CachePolicy:
    if tool.kind != "generator":
        return CachePolicy(0)
    policies = []
    for contribution in rules.cache:
        plugin, rule = contribution.plugin, contribution.record
        with rules.contained(plugin, "cache rule", rule.name):
            policy = rule.policy_for(tool.info, plan)
            if policy is not None:
                _check_policy(rule.name, policy)
        if policy is not None:
            policies.append(policy)
    return CachePolicy(
        seconds=min((policy.seconds for policy in policies), default=0),
        share="subject" if any(policy.share == "subject" for policy in policies) else "everyone",
    )


def _check_policy(rule: str, policy: CachePolicy) -> None:
    if not isinstance(policy, CachePolicy):
        raise PluginError(f"cache rule {rule} must return a CachePolicy or None, it returned {describe_value(policy)}")
    problems = [*shape_problems(policy)] or ([] if policy.seconds >= 0 else [f"seconds is {policy.seconds}, below 0"])
    if problems:
        raise PluginError(f"cache rule {rule}: {'; '.join(problems)}")
