"""Whose credential a call carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

from pressroom.pipeline.exchange import Exchange, Headers
from pressroom.pipeline.services import Services
from pressroom.sdk import Caller, Credentials, Identity

BEARER = "bearer "


class Authenticate:
    """Asks the authenticators, in the operator's order, whom the request's credential belongs to.

    It is a bearer (RFC 6750), or whatever header an authenticator looks at, so each is asked for every call.
    Fails closed: what an authenticator raises refuses the call.
    """

    name = "authenticate"

    def __init__(self, services: Services) -> None:
        self._authenticators = services.authenticators

    async def __call__(self, exchange: Exchange) -> None:
        """Replace the stranger by the identity that the first authenticator recognises. Raises `Rejected`."""
        exchange.caller = await self.identify(exchange.known_caller, exchange.headers)

    async def identify(self, stranger: Caller, headers: Headers) -> Caller:
        """Return whom the credential belongs to; the stranger, where nobody recognises it or there is none.

        Raises `Rejected`.
        """
        authorization = headers.get("authorization", "")
        bearer = authorization[len(BEARER) :].strip() if authorization[: len(BEARER)].lower() == BEARER else ""
        credentials = Credentials(
            bearer=bearer,
            address=stranger.address,
            headers=_LowerCase(headers),
        )
        for authenticator in self._authenticators:
            identity = await authenticator.authenticate(credentials)
            if identity is not None:
                return _caller(identity, stranger.address)
        return stranger


@lru_cache(maxsize=4096)
def _caller(identity: Identity, address: str) -> Caller:
    return Caller(
        address=address,
        plan=identity.plan,
        subject=identity.subject,
        connection=identity.connection,
        disabled_tools=identity.disabled_tools,
        connection_name=identity.connection_name,
    )


class _LowerCase(Mapping[str, str]):
    """Headers by their names in lower case, gathered where an authenticator looks at them, which few do."""

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
        return {name.lower(): value for name, value in self._headers.items()}
