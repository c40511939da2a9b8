"""`pressroom catalog`, `pressroom explain` and `pressroom openapi`: show the compiled catalog."""

from __future__ import annotations

from typing import Any

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, command_options
from pressroom.errors import NotFound


@click.command()
@click.option("--plan", default="anonymous", show_default=True, help="Plan to show.")
@command_options
def catalog(invocation: Invocation, plan: str) -> None:
    """List the tools of a plan. With --json, the generators' descriptors as clients read them."""
    from pressroom.catalog.descriptor import describe_catalog  # noqa: PLC0415 - loads plugins, which takes time

    host = compiled(invocation)
    view = _plan(host.catalog.plans, plan)
    if invocation.json:
        invocation.output.data(describe_catalog(view, host.branding, host.settings.public_url))
        return
    rows = [
        (
            entry.tool.name,
            entry.tool.mcp_name,
            entry.tool.info.plugin,
            entry.tool.executor,
            ", ".join(str(rule.rate) for rule in entry.limits) or "no limit",
        )
        for entry in view.tools.values()
    ]
    invocation.output.table(["Tool", "MCP name", "Plugin", "Executor", "Limit"], rows)


@click.command()
@click.argument("tool")
@click.option("--plan", help="Plan of the caller.  [default: the first plan that has the tool]")
@command_options
def explain(invocation: Invocation, tool: str, plan: str | None) -> None:
    """Show the stages of a call of TOOL, with its limits and its cache rule."""
    from pressroom.catalog.tool import ANONYMOUS  # noqa: PLC0415 - loads plugins, which takes time
    from pressroom.cli.explanation import explain_tool  # noqa: PLC0415

    host = compiled(invocation)
    containing = [name for name, view in host.catalog.plans.items() if tool in view.tools or tool in view.mcp_tools]
    plan_name = plan or next(iter(sorted(containing, key=lambda name: name != ANONYMOUS)), ANONYMOUS)
    view = _plan(host.catalog.plans, plan_name)
    entry = view.tools.get(tool) or view.mcp_tools.get(tool)
    if entry is None and tool in host.catalog.unavailable:
        raise NotFound(f"{tool} is not available: {host.catalog.unavailable[tool]}")
    if entry is None and containing:
        options = " or ".join(f"--plan {name}" for name in containing)
        raise NotFound(f"the plan {plan_name!r} has no tool {tool!r}", hint=f"explain it with {options}")
    if entry is None:
        available = ", ".join(view.tools) or "none"
        raise NotFound(f"the plan {plan_name!r} has no tool {tool!r}", hint=f"it has {available}")
    if plan is None and plan_name != ANONYMOUS:
        invocation.output.note(f"For callers on the plan {plan_name!r}; choose another with --plan.")
    steps = explain_tool(host, entry, plan_name)
    if invocation.json:
        invocation.output.data(
            {"tool": entry.tool.name, "plan": plan_name, "stages": [step.as_data() for step in steps]}
        )
    else:
        invocation.output.table(["Stage", "What it does here"], [(step.stage, step.text) for step in steps])


@click.command()
@command_options
def openapi(invocation: Invocation) -> None:
    """Print the OpenAPI 3.1 document of the Tools API."""
    from pressroom.interfaces.tools_api.openapi import openapi_document  # noqa: PLC0415 - loads plugins, which takes time

    invocation.output.data(openapi_document(compiled(invocation)))


def _plan(plans: Any, name: str) -> Any:
    if name not in plans:
        raise NotFound(f"there is no plan {name!r}", hint=f"the plans are {', '.join(plans)}")
    return plans[name]
