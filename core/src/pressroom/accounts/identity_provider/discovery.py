"""The provider's discovery document (OpenID Connect Discovery 1.0, RFC 8414)."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from pressroom.accounts.identity_provider.provider_client import ProviderClient, ProviderError, check_url
from pressroom.validation.echo import quoted

_PATH: Final = "/.well-known/openid-configuration"


class ProviderMetadata(BaseModel):
    """What the provider says of itself, as far as it matters here. Names and defaults are those of the standard."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False


async def discover(fetcher: ProviderClient, issuer: str) -> ProviderMetadata:
    """Return the metadata of an issuer.

    Raises:
        ProviderError: it cannot be had, belongs to another issuer (Discovery 1.0, section 4.3: byte for byte), or names
            a URL that is not safe.
    """
    document = await fetcher.json("GET", issuer.removesuffix("/") + _PATH)
    try:
        metadata = ProviderMetadata.model_validate(document)
    except ValidationError as error:
        fields = ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors()}))
        raise ProviderError(f"has a discovery document without a usable {fields}") from None
    if metadata.issuer != issuer:
        raise ProviderError(
            f"calls itself {quoted(metadata.issuer, 200)}; write that as [accounts.identity_provider] issuer"
        )
    for url in (metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri):
        check_url(url)
    return metadata
