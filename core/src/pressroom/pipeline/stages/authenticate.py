"""Who makes a call: the IP address of the client, and whose credential it sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final

from pressroom.pipeline.context import AdmittedCall, IdentifiedCall, ReceivedCall, Services
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import Caller, Credentials, Identity
from pressroom.validation.client_ip import Headers, client_ip_of

BEARER: Final = "bearer "


class Admit(CallStage[ReceivedCall, AdmittedCall]):
    """Finds the client's IP address, past the proxies that the operator trusts."""

    name = "admit"

    def __init__(self, services: Services) -> None:
        server = services.settings.server
        self._trusted_proxies = server.trusted_proxies
        self._secret = server.forwarded_secret.get_secret_value() if server.forwarded_secret else None

    async def enter(self, call: ReceivedCall) -> AdmittedCall:
        """Return the call with an anonymous caller at the client's IP address."""
        return AdmittedCall(call.request, self.anonymous(call.connection_ip, call.headers), call.headers)

    def anonymous(self, connection_ip: str, headers: Headers) -> Caller:
        """Return a caller known only by the IP address."""
        return _anonymous(client_ip_of(connection_ip, headers, self._trusted_proxies, self._secret))


class Authenticate(CallStage[AdmittedCall, IdentifiedCall]):
    """Asks the authenticators, in the operator's order, whom the request's credential belongs to.

    It is a bearer (RFC 6750), or whatever header an authenticator looks at: those that look at bearers only are asked
    where there is one, all others for every call.
    Fails closed: what an authenticator raises refuses the call.
    """

    name = "authenticate"

    def __init__(self, services: Services) -> None:
        self._authenticators = services.authenticators
        self._without_bearer = tuple(one for one in services.authenticators if not one.bearer_only)

    async def enter(self, call: AdmittedCall) -> IdentifiedCall:
        """Return the call with the identity that the first authenticator recognises. Raises `Rejected`."""
        return IdentifiedCall(call.request, await self.identify(call.caller, call.headers))

    async def identify(self, anonymous: Caller, headers: Headers) -> Caller:
        """Return whom the credential belongs to, or the anonymous caller if it is missing or nobody recognises it.

        Raises `Rejected`.
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
    """Headers by their names in lower case, gathered where an authenticator looks at them, which few do.

    The values of one that was sent several times are joined, as RFC 9110 (5.3) and RFC 9113 (8.2.3) have it.
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
        gathered: dict[str, str] = {}
        for given, value in self._headers.items():
            name = given.lower()
            between = "; " if name == "cookie" else ", "
            gathered[name] = f"{gathered[name]}{between}{value}" if name in gathered else value
        return gathered
