"""Whose credential a call carries."""

from __future__ import annotations

from dataclasses import replace

from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.sdk import Credentials

BEARER = "bearer "


class Authenticate:
    """Asks the authenticators, in the operator's order, whom the bearer credential belongs to (RFC 6750).

    Fails closed: what an authenticator raises refuses the call.
    """

    name = "authenticate"

    def __init__(self, services: Services) -> None:
        self._authenticators = services.authenticators

    async def __call__(self, exchange: Exchange) -> None:
        """Replace the stranger by the identity that the first authenticator recognises."""
        authorization = exchange.headers.get("authorization", "")
        if not self._authenticators or authorization[: len(BEARER)].lower() != BEARER:
            return
        caller = exchange.known_caller
        credentials = Credentials(
            bearer=authorization[len(BEARER) :].strip(),
            address=caller.address,
            headers={name.lower(): value for name, value in exchange.headers.items()},
        )
        for authenticator in self._authenticators:
            identity = await authenticator.authenticate(credentials)
            if identity is not None:
                exchange.caller = replace(
                    caller,
                    plan=identity.plan,
                    subject=identity.subject,
                    connection=identity.connection,
                    disabled_tools=identity.disabled_tools,
                )
                return
