"""What operators configure: `[plugins.search_performance.config]`."""

from __future__ import annotations

import json
from typing import Self

from pressroom.sdk import PluginConfig
from pressroom_content.contract import SearchType
from pydantic import Field, SecretStr, field_validator, model_validator


class SearchPerformanceConfig(PluginConfig):
    """Access to the sources of figures, and how long they are kept."""

    google_service_account: SecretStr | None = Field(
        None,
        description=(
            "Key file (JSON) of a Google service account, for websites whose owners add its e-mail address to their "
            "Search Console property. Left out, they enter a credential of their own."
        ),
    )
    google_client_id: str = Field(
        "",
        max_length=256,
        description=(
            "ID of an OAuth client of Google, of the type web application, with which people sign in to connect "
            "Search Console. Its redirect URI is the server's URL with /dashboard/search/google/callback."
        ),
    )
    google_client_secret: SecretStr | None = Field(None, description="Secret of that OAuth client.")
    google_url: str = Field("https://searchconsole.googleapis.com", description="URL of the Search Console API.")
    google_token_url: str = Field(
        "https://oauth2.googleapis.com/token", description="URL at which Google gives out access tokens."
    )
    google_authorization_url: str = Field(
        "https://accounts.google.com/o/oauth2/v2/auth", description="URL at which people sign in with Google."
    )
    google_revocation_url: str = Field(
        "https://oauth2.googleapis.com/revoke", description="URL at which such a sign-in is revoked."
    )
    indexnow_url: str = Field(
        "https://api.indexnow.org/indexnow", description="URL that IndexNow submissions are sent to."
    )
    bing_url: str = Field("https://ssl.bing.com/webmaster/api.svc/json", description="URL of the Bing Webmaster API.")
    plausible_url: str = Field(
        "https://plausible.io", description="URL of Plausible, for people who name no server of their own."
    )
    umami_url: str = Field(
        "https://api.umami.is/v1", description="URL of Umami Cloud, for people who name no server of their own."
    )
    dataforseo_login: str = Field(
        "",
        max_length=256,
        description="Login for the API of DataForSEO, which get_keyword_data asks; the operator pays.",
    )
    dataforseo_password: SecretStr | None = Field(None, description="Password for the API of DataForSEO.")
    dataforseo_url: str = Field("https://api.dataforseo.com", description="URL of the API of DataForSEO.")
    keyword_source: str = Field(
        "",
        max_length=32,
        description=(
            "Name of the provider of keyword data that get_keyword_data asks, such as dataforseo, where plugins offer "
            "several. Empty: the first one by plugin id."
        ),
    )
    keyword_country: str = Field(
        "US", pattern=r"^[A-Z]{2}$", description="Country of keyword data (ISO 3166-1) where a call names none."
    )
    keyword_language: str = Field(
        "en", pattern=r"^[a-z]{2}$", description="Language of keyword data (ISO 639-1) where a call names none."
    )
    keyword_days: int = Field(
        30,
        ge=1,
        le=365,
        description="Days for which keyword data is kept; in that time a phrase is not paid for again.",
    )
    search_types: tuple[SearchType, ...] = Field(
        ("web",), min_length=1, description="Kinds of results that are fetched nightly. Others are asked for live."
    )
    history_days: int = Field(480, ge=7, le=480, description="Days that are fetched when a website is connected.")
    slice_days: int = Field(30, ge=1, le=120, description="Days that are fetched in one run of the job.")
    max_rows: int = Field(
        5_000, ge=100, le=50_000, description="Rows of a day that are kept of each grain, those with the most clicks."
    )
    source_seconds: float = Field(
        120,
        ge=0.1,
        le=3000,
        description="Seconds that one question to a source, to analytics or to a provider of keyword data may take.",
    )
    sweep_seconds: int = Field(
        900, ge=1, le=86_400, description="Seconds after which the server looks again for websites that are due."
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
