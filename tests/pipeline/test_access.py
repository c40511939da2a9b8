"""Access levels: what a connection may call."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from pressroom.catalog.tool import LEVELS, allows
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.pipeline.context import CallRequest, IdentifiedCall, RefusedCall
from pressroom.sdk import Caller
from pressroom.sdk.declaration import Access
from pressroom.testing.running import settings_for_test
from support.databases import database_config, migrated
from support.installing import install, on_path

PLUGIN = '''
from pressroom.sdk import *
from pydantic import BaseModel, Field

PLUGIN = Plugin(id="desk", title="Desk", summary="A tool of every kind.")


class Nothing(Params):
    pass


class Done(BaseModel):
    done: bool = True


def tool(name, **options):
    @mcp_tool(name=name, title=name, **options)
    async def run(params: Nothing, call: Call) -> Done:
        """Does what its name says."""
        return Done()

    return run


TOOLS = [
    tool("look", annotations=Annotations(read_only=True)),
    tool("write"),
    tool("publish", publishes=True),
    tool("burn", annotations=Annotations(destructive=True)),
    tool("burn_online", annotations=Annotations(destructive=True), publishes=True),
    tool("burn_and_claim_to_read", annotations=Annotations(destructive=True, read_only=True)),
]


class DrawParams(Params):
    text: str = Field(default="x", description="What is drawn.")


@generator(slug="draw", name="Draw", summary="Draws.", rate_limit=per_hour(1000), produces=("text/plain",),
           executor="async", mcp=Mcp("generate_drawing"), examples=(Example("One", {"text": "x"}),))
async def draw(params: DrawParams, call: Call) -> Artifact:
    """Draws a text."""
    return Artifact(params.text.encode(), "text/plain")


@hookimpl
def pressroom_mcp_tools():
    return TOOLS


@hookimpl
def pressroom_generators():
    return [draw]
'''
READING = {"look", "generate_drawing"}
DRAFTS = {*READING, "write"}
PUBLISHING = {*DRAFTS, "publish"}
EVERYTHING = {*PUBLISHING, "burn", "burn_online", "burn_and_claim_to_read"}
ALLOWED: dict[str, set[str]] = {"read": READING, "drafts": DRAFTS, "publish": PUBLISHING, "full": EVERYTHING}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    site = tmp_path_factory.mktemp("site")
    install(site, "acme-desk", {"acme_desk.py": PLUGIN}, {"desk": "acme_desk"})
    with on_path(site):
        yield


@pytest.fixture
async def host(installed: None, tmp_path: Path) -> AsyncIterator[Host]:
    with ExitStack() as stack:
        storage = stack.enter_context(database_config("sqlite", tmp_path, tables=True))
        settings = settings_for_test({"storage": storage, "plugins": {"desk": {}}}, tmp_path)
        host = Host(LoadedApp(settings))
        async with migrated(settings):
            pass
        await host.start()
        yield host
        await host.close()


@pytest.fixture
async def caller(host: Host) -> Caller:
    user = await host.accounts.users.add("ada@example.com")
    return Caller("203.0.113.7", plan="free", subject=user.id, connection="c_1", connection_name="laptop")


async def refusal(host: Host, caller: Caller, tool: str) -> str:
    """Return why a call is refused, or an empty string if it is allowed."""
    outcome = await host.pipeline(IdentifiedCall(CallRequest(tool, {}, "r", "mcp"), caller))
    if not isinstance(outcome, RefusedCall):
        return ""
    assert outcome.error.code == "forbidden"
    return str(outcome.error.message)


def test_every_access_level_of_the_sdk_is_known() -> None:
    assert tuple(level.name for level in LEVELS) == get_args(Access)


@pytest.mark.parametrize("access", get_args(Access))
async def test_a_connection_may_use_only_what_its_level_allows(host: Host, caller: Caller, access: Access) -> None:
    caller = replace(caller, access=access, granted=access)
    assert {name for name in EVERYTHING if not await refusal(host, caller, name)} == ALLOWED[access]


@pytest.mark.parametrize("access", get_args(Access))
def test_a_list_of_tools_accepts_the_same_parameters(host: Host, access: Access) -> None:
    tools = host.services.catalog.plans["free"].mcp_tools
    assert {name for name in EVERYTHING if allows(access, tools[name].tool)} == ALLOWED[access]


async def test_an_unknown_level_allows_nothing(host: Host, caller: Caller) -> None:
    odd = cast("Access", "superuser")
    text = await refusal(host, replace(caller, access=odd, granted=odd), "look")
    assert "the access level of the connection 'laptop' is 'superuser'" in text


@pytest.mark.parametrize(
    ("access", "tool", "does", "title", "needed"),
    [
        ("read", "write", "changes what your account holds", "Read only", "Write drafts"),
        ("drafts", "publish", "changes what visitors of your websites see", "Write drafts", "Write and publish"),
        (
            "publish",
            "burn",
            "can delete or overwrite what cannot be restored",
            "Write and publish",
            "Everything",
        ),
    ],
)
async def test_a_refusal_describes_the_tool_and_links_to_the_setting(
    host: Host, caller: Caller, access: Access, tool: str, does: str, title: str, needed: str
) -> None:
    text = await refusal(host, replace(caller, access=access, granted=access), tool)
    assert text.startswith(f"{tool} {does}, and the access level of the connection 'laptop' is '{title}'")
    assert text.endswith(f"can change it to '{needed}' at {host.settings.public_url}/dashboard/connections/c_1")


async def test_a_request_for_read_access_is_reported_as_such(host: Host, caller: Caller) -> None:
    text = await refusal(host, replace(caller, access="read", granted="full"), "publish")
    assert "this request asked for tools that only read" in text
    assert "readonly=true" in text
    assert "X-MCP-Readonly" in text
    assert "dashboard" not in text


async def test_a_request_for_read_access_beyond_its_connection_is_sent_to_the_dashboard(
    host: Host, caller: Caller
) -> None:
    text = await refusal(host, replace(caller, access="read", granted="drafts"), "publish")
    assert "is 'Write drafts'" in text
    assert text.endswith("/dashboard/connections/c_1")


async def test_a_caller_without_a_connection_is_sent_to_the_list_of_connections(host: Host, caller: Caller) -> None:
    nameless: dict[str, Any] = {"connection": "", "connection_name": ""}
    text = await refusal(host, replace(caller, access="read", granted="read", **nameless), "write")
    assert "the access level of this connection is 'Read only'" in text
    assert text.endswith(f"{host.settings.public_url}/dashboard/connections")
