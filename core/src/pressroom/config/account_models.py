"""Settings for credentials, accounts, sign-in and the OAuth server."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from pressroom.config.values import Duration, HttpUrl, RateText, Section, WholeNumber


class AuthSettings(Section):
    """`[auth]`: the form of credentials, and the order in which they are recognised."""

    authenticators: tuple[str, ...] = Field(
        ("api_key", "access_token"),
        description="Names of authenticators, in the order in which they are asked; the others follow by name.",
    )
    prefix: str = Field(
        "prk",
        pattern=r"^[a-z][a-z0-9]{1,11}$",
        description="Prefix of API keys and tokens: prk_key_…, prk_oat_….",
    )
    cache: Duration = Field(
        5,
        ge=0,
        le=5,
        description="How long a valid credential is accepted without checking the database again, at most 5 s.",
    )


class IdentityProviderSettings(Section):
    """`[accounts.identity_provider]`: the OpenID Connect provider that users sign in with."""

    issuer: HttpUrl | None = Field(
        None, description="Issuer URL of the provider; the discovery document must be below it."
    )
    client_id: str = Field("", max_length=500, description="Client ID that the provider assigned to this server.")
    client_secret: SecretStr | None = Field(None, description="Client secret; empty for a public client.")
    name: str = Field("", max_length=60, description="Name on the sign-in button; by default the issuer's host.")
    scopes: tuple[str, ...] = Field(("openid", "email", "profile"), description="Scopes to request.")
    create_accounts: bool = Field(True, description="Whether users who sign in for the first time get an account.")
    allowed_domains: tuple[str, ...] = Field((), description="E-mail domains that may sign in; empty allows all.")
    clock_skew: Duration = Field(60, ge=0, le=300, description="How far the provider's clock may differ from this one.")
    timeout: Duration = Field(10, gt=0, le=60, description="Time that one request to the provider may take.")


class AccountsSettings(Section):
    """`[accounts]`: users, how they sign in, and how long data about them is kept."""

    default_plan: str = Field("free", pattern=r"^[a-z][a-z0-9_-]{0,31}$", description="Plan of a new account.")
    sign_up: bool = Field(False, description="Whether anyone may create an account with e-mail and password.")
    invitations_create_accounts: bool = Field(
        True,
        description="Whether people who are invited to somebody's account may create their own account with a "
        "password, even if sign_up is off.",
    )
    operators: tuple[Annotated[str, Field(pattern=r"^\S+@\S+$", max_length=254)], ...] = Field(
        (), description="E-mail addresses of users who can see and manage all accounts in the dashboard."
    )
    password_sign_in: bool = Field(True, description="Whether local accounts may sign in with a password.")
    identity_provider: IdentityProviderSettings = IdentityProviderSettings()
    session_lifetime: Duration = Field(2_592_000, ge=300, description="How long a session lasts at most.")
    session_idle: Duration = Field(604_800, ge=60, description="How long a session lasts without use.")
    sign_in_rate_account: RateText = Field(
        "10/hour", description="Failed sign-ins allowed for one account from one IP address or known browser."
    )
    sign_in_rate_account_total: RateText = Field(
        "100/hour",
        description="Failed sign-ins allowed for one account in total; known browsers are counted separately.",
    )
    sign_in_rate_ip: RateText = Field("50/hour", description="Failed sign-ins allowed from one IP address.")
    activity_retention: Duration = Field(7_776_000, ge=86_400, description="How long calls stay in the activity list.")
    connections: WholeNumber = Field(
        100, ge=1, le=100_000, description="Maximum number of API keys and clients of one account."
    )


class OAuthSettings(Section):
    """`[oauth]`: the authorization server that issues access tokens for the MCP endpoint."""

    enabled: bool = Field(True, description="Whether clients may connect with OAuth; API keys do not need it.")
    refresh_grace: Duration = Field(
        0, ge=0, le=300, description="How long a rotated refresh token may be sent again after a lost response."
    )
    registration: bool = Field(True, description="Whether clients may register themselves (RFC 7591).")
    registration_rate: RateText = Field("60/hour", description="Registrations allowed from one IP address.")
    unused_client_lifetime: Duration = Field(
        2_592_000, ge=3600, description="How long a client that nobody approved stays registered."
    )
    client_metadata_documents: bool = Field(
        False, description="Whether an https URL may be a client ID (Client ID Metadata Documents)."
    )
    key_lifetime: Duration = Field(
        7_776_000, ge=86_400, description="How long a key signs access tokens before it is replaced."
    )
