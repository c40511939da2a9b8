"""An authenticator: programs of the company identify themselves with a header of their own."""

from __future__ import annotations

import hashlib
import hmac

from pressroom.sdk import (
    Authenticator,
    Credentials,
    Identity,
    Plugin,
    PluginConfig,
    PluginContext,
    Rejected,
    hookimpl,
)
from pydantic import Field, SecretStr

HEADER = "x-company-key"


class CompanyKeyConfig(PluginConfig):
    """`[plugins.company_key.config]`."""

    keys: dict[str, SecretStr] = Field(default_factory=dict, description="The key of each program, by its name.")
    plan: str = Field(default="free", description="The plan of all of them.")


PLUGIN = Plugin(
    id="company_key",
    api="1",
    title="Company keys",
    summary="Lets programs of the company in with a key in a header.",
    config=CompanyKeyConfig,
)


@hookimpl
def pressroom_authenticators(plugin: PluginContext[CompanyKeyConfig]) -> list[Authenticator]:
    """Recognise the header, and refuse a key that is wrong."""
    config = plugin.config

    async def authenticate(credentials: Credentials) -> Identity | None:
        given = credentials.headers.get(HEADER)
        if given is None:
            return None
        for program, key in config.keys.items():
            if hmac.compare_digest(digest(given), digest(key.get_secret_value())):
                return Identity(subject=f"company:{program}", plan=config.plan)
        raise Rejected(f"The key in {HEADER} is not known; ask the operator of this server for one.")

    return [Authenticator("company key", authenticate)]


def digest(text: str) -> bytes:
    """Return a hash: texts of different lengths are compared in the same time."""
    return hashlib.sha256(text.encode()).digest()
