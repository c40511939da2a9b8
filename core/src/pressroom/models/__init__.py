"""The tables of the host itself, and the migrations that make them."""

from typing import Final

from pressroom.models.accounts import (
    ActivityRow,
    ApiKeyRow,
    ConnectionRow,
    IdentityRow,
    QuotaRow,
    SessionRow,
    SetupLinkRow,
    UserRow,
)
from pressroom.models.base import Base
from pressroom.models.jobs import JobRow
from pressroom.models.keys import KeyFingerprintRow
from pressroom.models.oauth import ClientRow, CodeRow, RefreshTokenRow, SigningKeyRow, TokenFamilyRow
from pressroom.sdk import Models

HOST_MODELS: Final = Models(Base.metadata, "pressroom.models.migrations")
"""What a plugin contributes for its tables, for those of the host."""

__all__ = [
    "HOST_MODELS",
    "ActivityRow",
    "ApiKeyRow",
    "Base",
    "ClientRow",
    "CodeRow",
    "ConnectionRow",
    "IdentityRow",
    "JobRow",
    "KeyFingerprintRow",
    "QuotaRow",
    "RefreshTokenRow",
    "SessionRow",
    "SetupLinkRow",
    "SigningKeyRow",
    "TokenFamilyRow",
    "UserRow",
]
