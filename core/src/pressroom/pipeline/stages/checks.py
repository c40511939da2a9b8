"""The first checks of a call: the caller, the tool, whether the caller can use it, and the arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final

import orjson
from pydantic import ValidationError

from pressroom.catalog.tool import BY_NAME, PlanView, Tool, allows
from pressroom.errors import CallError, Forbidden, NotFound
from pressroom.pipeline.context import AdmittedCall, IdentifiedCall, ReceivedCall, ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import Caller, Credentials, Identity
from pressroom.validation.client_ip import Headers, client_ip_of
from pressroom.validation.echo import nearest
from pressroom.validation.nulls import validated_without_nulls

BEARER: Final = "bearer "

HOST_PARAMS: Final = ("response",)
"""Parameters that HTTP calls accept in addition to the tool's own."""

CONTENT_ID_LENGTH: Final = 32


class Admit(CallStage[ReceivedCall, AdmittedCall]):
    """Determines the client's IP address behind the proxies that the operator trusts."""

    name = "admit"

    def __init__(self, services: Services) -> None:
        server = services.settings.server
        self._trusted_proxies = server.trusted_proxies
        self._secret = server.forwarded_secret.get_secret_value() if server.forwarded_secret else None

    async def enter(self, call: ReceivedCall) -> AdmittedCall:
        """Return the call with an anonymous caller at the client's IP address."""
        return AdmittedCall(call.request, self.anonymous(call.connection_ip, call.headers), call.headers)

    def anonymous(self, connection_ip: str, headers: Headers) -> Caller:
        """Return a caller that is known only by its IP address."""
        return _anonymous(client_ip_of(connection_ip, headers, self._trusted_proxies, self._secret))


class Authenticate(CallStage[AdmittedCall, IdentifiedCall]):
    """Asks the authenticators, in the operator's order, who the request's credential belongs to.

    The credential is a bearer token (RFC 6750), or any header that an authenticator checks: authenticators that only
    check bearer tokens are called if there is one, all others for every call.
    Fails closed: an exception of an authenticator refuses the call.
    """

    name = "authenticate"

    def __init__(self, services: Services) -> None:
        self._authenticators = services.authenticators
        self._without_bearer = tuple(
            authenticator for authenticator in services.authenticators if not authenticator.bearer_only
        )

    async def enter(self, call: AdmittedCall) -> IdentifiedCall:
        """Return the call with the identity that the first matching authenticator returns. Raises `Rejected`."""
        return IdentifiedCall(call.request, await self.identify(call.caller, call.headers))

    async def identify(self, anonymous: Caller, headers: Headers) -> Caller:
        """Return the owner of the credential, or the anonymous caller if it is missing or no authenticator knows it.

        Raises:
            Rejected: an authenticator knows this kind of credential, and it is not valid.
            BackendError: the credential could not be checked.
        """
        authorization = headers.get("authorization", "")
        bearer = authorization[len(BEARER) :].strip() if authorization[: len(BEARER)].lower() == BEARER else ""
        credentials = Credentials(bearer, anonymous.client_ip, _LowerCase(headers))
        for authenticator in self._authenticators if bearer else self._without_bearer:
            identity = await authenticator.authenticate(credentials)
            if identity is not None:
                return _caller(identity, anonymous.client_ip)
        return anonymous


@lru_cache(maxsize=4096)
def _anonymous(client_ip: str) -> Caller:
    return Caller(client_ip)


@lru_cache(maxsize=4096)
def _caller(identity: Identity, client_ip: str) -> Caller:
    return Caller(
        client_ip=client_ip,
        plan=identity.plan,
        subject=identity.subject,
        connection=identity.connection,
        disabled_tools=identity.disabled_tools,
        connection_name=identity.connection_name,
        access=identity.access,
        granted=identity.access,
        toolsets=identity.toolsets,
    )


class _LowerCase(Mapping[str, str]):
    """Headers by lower-case name, collected on first access, since few authenticators read them.

    The values of a repeated header are joined as specified by RFC 9110 (5.3) and RFC 9113 (8.2.3).
    """

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def __getitem__(self, name: str) -> str:
        return self._gathered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._gathered)

    def __len__(self) -> int:
        return len(self._gathered)

    @cached_property
    def _gathered(self) -> dict[str, str]:
        combined: dict[str, str] = {}
        for header, value in self._headers.items():
            name = header.lower()
            between = "; " if name == "cookie" else ", "
            combined[name] = f"{combined[name]}{between}{value}" if name in combined else value
        return combined


class Plan(CallStage[IdentifiedCall, ResolvedCall]):
    """Resolves the tool in the view of the caller's plan: a hidden tool is also refused.

    An MCP client acts for an account, which can change its plan, so the error states which plan has the tool. For HTTP
    callers, a hidden tool does not exist.
    """

    name = "plan"
    internal = True

    def __init__(self, services: Services) -> None:
        self._catalog = services.catalog

    async def enter(self, call: IdentifiedCall) -> ResolvedCall:
        """Return the call with its tool. Raises `NotFound`, or `Forbidden` for a tool of other plans."""
        view = self._catalog.plans[call.caller.plan]
        by_mcp_name = call.request.interface == "mcp"
        plan_tool = (view.mcp_tools if by_mcp_name else view.tools).get(call.request.tool_name)
        if plan_tool is None or (not by_mcp_name and plan_tool.tool.info.kind != "generator"):
            raise self._refusal(call, view)
        return ResolvedCall(call.request, call.caller, plan_tool)

    def _refusal(self, call: IdentifiedCall, view: PlanView) -> CallError:
        name, by_mcp_name = call.request.tool_name, call.request.interface == "mcp"
        if by_mcp_name and name in self._catalog.mcp_tools:
            return Forbidden(self._catalog.exclusion_reason(name, call.caller.plan))
        similar = nearest(name, view.mcp_tools if by_mcp_name else view.tools)
        listing = "tools/list" if by_mcp_name else "GET /tools/api"
        return NotFound(
            f"there is no tool {name[:64]!r}"
            + (f"; did you mean {similar}?" if similar else f"; {listing} lists the tools")
        )


class Authorize(CallStage[ResolvedCall, ResolvedCall]):
    """Checks the connection's access level and disabled tools, then every authorizer. Fails closed."""

    name = "authorize"

    def __init__(self, services: Services) -> None:
        self._authorizers = services.authorizers
        self._dashboard = f"{services.settings.public_url}/dashboard/connections"

    async def enter(self, call: ResolvedCall) -> ResolvedCall:
        """Let the call pass. Raises `Forbidden`."""
        caller, tool = call.caller, call.plan_tool.tool
        if caller.access != "full" and not allows(caller.access, tool):
            raise Forbidden(self._beyond(tool, caller))
        if caller.disabled_tools and caller.disabled_tools & {tool.name, tool.mcp_name}:
            raise Forbidden(self._switched_off(tool.mcp_name or tool.name, caller))
        for authorizer in self._authorizers:
            reason = await authorizer.authorize(caller, tool.info)
            if reason is not None:
                raise Forbidden(reason)
        return call

    def _switched_off(self, tool: str, caller: Caller) -> str:
        return f"{tool} is switched off for {_named(caller)}; switch it on at {self._page(caller)}"

    def _beyond(self, tool: Tool, caller: Caller) -> str:
        required, granted = BY_NAME[tool.access], BY_NAME.get(caller.granted)
        action = f"{tool.mcp_name or tool.name} {required.adds}"
        if allows(caller.granted, tool):
            return (
                f"{action}, and this request asked for tools that only read (`readonly=true` in the URL or the header "
                f"X-MCP-Readonly); {_named(caller)} itself may use it without that"
            )
        return (
            f"{action}, and the access level of {_named(caller)} is {granted.title if granted else caller.granted!r}; "
            f"its owner can change it to {required.title!r} at {self._page(caller)}"
        )

    def _page(self, caller: Caller) -> str:
        return f"{self._dashboard}/{caller.connection}" if caller.connection else self._dashboard


def _named(caller: Caller) -> str:
    return f"the connection {caller.connection_name!r}" if caller.connection_name else "this connection"


class Validate(CallStage[ResolvedCall, ValidatedCall]):
    """Validates the arguments with the tool's model and derives the content id from them."""

    name = "validate"
    internal = True

    def __init__(self, services: Services) -> None:
        """Do nothing: the stage uses only the call."""

    async def enter(self, call: ResolvedCall) -> ValidatedCall:
        """Return the call with its parameters and content id. Raises `InvalidInput`, or the interface's parse error."""
        plan_tool, arguments = call.plan_tool, call.request.arguments
        if isinstance(arguments, CallError):
            raise arguments
        model = plan_tool.tool.params
        try:
            params = model.model_validate(arguments)
        except ValidationError as error:
            host_params = () if call.request.interface == "mcp" else HOST_PARAMS
            params = validated_without_nulls(error, model, arguments, also_known=host_params)
        content_id = ""
        if plan_tool.tool.info.kind == "generator":
            canonical = orjson.dumps(params.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
            digest = hashlib.sha256(plan_tool.tool.content_salt)
            if plan_tool.cache.share == "subject":
                digest.update(call.caller.subject.encode() + b"\n")
            digest.update(canonical)
            content_id = digest.hexdigest()[:CONTENT_ID_LENGTH]
        return ValidatedCall(
            call.request, call.caller, plan_tool, params, content_id, entered_middleware=call.entered_middleware
        )
