"""The tables of the host itself, and the migrations that make them."""

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
from pressroom.models.oauth import ClientRow, CodeRow, RefreshTokenRow, SigningKeyRow, TokenFamilyRow

__all__ = [
    "ActivityRow",
    "ApiKeyRow",
    "Base",
    "ClientRow",
    "CodeRow",
    "ConnectionRow",
    "IdentityRow",
    "JobRow",
    "QuotaRow",
    "RefreshTokenRow",
    "SessionRow",
    "SetupLinkRow",
    "SigningKeyRow",
    "TokenFamilyRow",
    "UserRow",
]
