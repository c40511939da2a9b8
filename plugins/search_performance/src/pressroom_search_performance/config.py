"""Configuration of the plugin: `[plugins.search_performance.config]`."""

from __future__ import annotations

import json
from typing import Self

from pressroom.sdk import PluginConfig
from pressroom_content.contract import SearchType
from pydantic import Field, SecretStr, field_validator, model_validator


class SearchPerformanceConfig(PluginConfig):
    """Access to the sources of figures, and how much data to fetch and keep."""

    google_service_account: SecretStr | None = Field(
        None,
        description=(
            "Key file (JSON) of a Google service account, for websites whose owners add its e-mail address to their "
            "Search Console property. Without it, owners enter their own credential."
        ),
    )
    google_client_id: str = Field(
        "",
        max_length=256,
        description=(
            "ID of a Google OAuth client, of the type web application, with which users sign in to connect Search "
            "Console. Its redirect URI is the server's URL followed by /dashboard/search/google/callback."
        ),
    )
    google_client_secret: SecretStr | None = Field(None, description="Secret of that OAuth client.")
    google_url: str = Field("https://searchconsole.googleapis.com", description="URL of the Search Console API.")
    google_token_url: str = Field(
        "https://oauth2.googleapis.com/token", description="URL at which Google issues access tokens."
    )
    google_authorization_url: str = Field(
        "https://accounts.google.com/o/oauth2/v2/auth", description="URL at which users sign in with Google."
    )
    google_revocation_url: str = Field(
        "https://oauth2.googleapis.com/revoke", description="URL at which such a sign-in is revoked."
    )
    indexnow_url: str = Field(
        "https://api.indexnow.org/indexnow", description="URL that IndexNow submissions are sent to."
    )
    bing_url: str = Field("https://ssl.bing.com/webmaster/api.svc/json", description="URL of the Bing Webmaster API.")
    plausible_url: str = Field(
        "https://plausible.io", description="URL of Plausible, for users who do not enter their own server."
    )
    umami_url: str = Field(
        "https://api.umami.is/v1", description="URL of Umami Cloud, for users who do not enter their own server."
    )
    dataforseo_login: str = Field(
        "",
        max_length=256,
        description="Login for the API of DataForSEO, which get_keyword_data uses; the operator pays for it.",
    )
    dataforseo_password: SecretStr | None = Field(None, description="Password for the API of DataForSEO.")
    dataforseo_url: str = Field("https://api.dataforseo.com", description="URL of the API of DataForSEO.")
    keyword_source: str = Field(
        "",
        max_length=32,
        description=(
            "Name of the provider of keyword data that get_keyword_data uses, such as dataforseo, if plugins offer "
            "several. By default, the first one by plugin ID."
        ),
    )
    keyword_country: str = Field(
        "US", pattern=r"^[A-Z]{2}$", description="Default country of keyword data (ISO 3166-1)."
    )
    keyword_language: str = Field(
        "en", pattern=r"^[a-z]{2}$", description="Default language of keyword data (ISO 639-1)."
    )
    keyword_days: int = Field(
        30,
        ge=1,
        le=365,
        description="Days for which keyword data is kept; during that time, no phrase is paid for again.",
    )
    search_types: tuple[SearchType, ...] = Field(
        ("web",),
        min_length=1,
        description="Kinds of results that are fetched every night. Others are fetched on request.",
    )
    history_days: int = Field(480, ge=7, le=480, description="Number of past days to fetch for a new website.")
    slice_days: int = Field(30, ge=1, le=120, description="Number of days that one run of the job fetches.")
    max_rows: int = Field(
        5_000, ge=100, le=50_000, description="Rows to keep for each day and grain, those with the most clicks."
    )
    source_seconds: float = Field(
        120,
        ge=0.1,
        le=3000,
        description="Seconds that one query to a source, to analytics or to a provider of keyword data may take.",
    )
    sweep_seconds: int = Field(
        900, ge=1, le=86_400, description="How often the server looks for websites that are due, in seconds."
    )

    @model_validator(mode="after")
    def _has_both(self) -> Self:
        if bool(self.dataforseo_login) != (self.dataforseo_password is not None):
            raise ValueError("dataforseo_login and dataforseo_password need each other")
        secret = self.google_client_secret
        if bool(self.google_client_id) != bool(secret is not None and secret.get_secret_value()):
            raise ValueError("google_client_id and google_client_secret need each other")
        return self

    @field_validator("google_service_account")
    @classmethod
    def _is_key_file(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        try:
            document = json.loads(value.get_secret_value())
        except ValueError:
            raise ValueError("must be the JSON text of a service account's key file") from None
        missing = [name for name in ("client_email", "private_key") if not _text(document, name)]
        if missing:
            raise ValueError(f"the service account's key file has no {' and no '.join(missing)}")
        return value


def _text(document: object, name: str) -> bool:
    return isinstance(document, dict) and isinstance(document.get(name), str) and bool(document[name])
