"""Tables: connections, fetched days and rows, tracked phrases, keyword data, sign-ins and IndexNow keys."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from pressroom.columns import MAX_ID_LENGTH, NAMING, Timestamp
from sqlalchemy import BigInteger, Date, ForeignKey, Index, Integer, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ID: Final = String(MAX_ID_LENGTH)


class SearchPerformanceBase(DeclarativeBase):
    """The tables of this plugin."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp, date: Date}  # noqa: RUF012 - declared so by SQLAlchemy


class SourceConnectionRow(SearchPerformanceBase):
    """A website's connection to a source. `property` is the source's name for the site.

    `credential` is a JWE for the website; empty if the operator's credential is used. `status` is `active` or `error`.
    `due_at` is the time of the next fetch, `None` for a source that is queried live. `round_at` is the start of the
    current round of fetching, which takes several slices if many days are missing: days that are not final are fetched
    once per round. A fetch holds the connection's lock, see `figures.store`.
    """

    __tablename__ = "search_performance_connections"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str] = mapped_column(ID)
    source: Mapped[str] = mapped_column(String(32))
    property: Mapped[str] = mapped_column(String(2048))
    credential: Mapped[str] = mapped_column(Text, default="")
    status: Mapped[str] = mapped_column(String(16), default="active")
    last_error: Mapped[str] = mapped_column(Text, default="")
    last_error_at: Mapped[datetime | None]
    fetched_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None] = mapped_column(index=True)
    round_at: Mapped[datetime | None]
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "website_id", "source", unique=True), Index(None, "user_id"))


class ClaimRow(SearchPerformanceBase):
    """The account that owns a property read with the operator's credential. `id` is a hash of source and property."""

    __tablename__ = "search_performance_claims"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)


class GoogleSignInRow(SearchPerformanceBase):
    """A user who is signing in with Google to connect a website. `id` is a hash of the `state`, or of a random secret.

    `session` identifies the browser session. `sealed` is a JWE for the website: the code verifier until the callback,
    then the credential while the user chooses one of the matching properties, which are in `properties` as JSON.
    """

    __tablename__ = "search_performance_google_sign_ins"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str] = mapped_column(ID)
    session: Mapped[str] = mapped_column(String(64))
    sealed: Mapped[str] = mapped_column(Text)
    properties: Mapped[str] = mapped_column(Text, default="")
    expires_at: Mapped[datetime] = mapped_column(index=True)

    __table_args__ = (Index(None, "user_id"),)


class DayRow(SearchPerformanceBase):
    """A fetched day. It is fetched again until it is `final`. `truncated` means that the source had more rows."""

    __tablename__ = "search_performance_days"

    connection_id: Mapped[str] = mapped_column(
        ForeignKey("search_performance_connections.id", ondelete="CASCADE"), primary_key=True
    )
    search_type: Mapped[str] = mapped_column(String(16), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    final: Mapped[bool]
    truncated: Mapped[bool] = mapped_column(default=False)
    fetched_at: Mapped[datetime]


class FigureRow(SearchPerformanceBase):
    """The figures of a day in one grain. Dimensions that the grain does not split by are empty."""

    __tablename__ = "search_performance_figures"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)
    connection_id: Mapped[str] = mapped_column(ForeignKey("search_performance_connections.id", ondelete="CASCADE"))
    search_type: Mapped[str] = mapped_column(String(16))
    grain: Mapped[str] = mapped_column(String(16))
    day: Mapped[date]
    page: Mapped[str] = mapped_column(String(2048), default="")
    query: Mapped[str] = mapped_column(Text, default="")
    country: Mapped[str] = mapped_column(String(16), default="")
    device: Mapped[str] = mapped_column(String(16), default="")
    clicks: Mapped[int]
    impressions: Mapped[int]
    position: Mapped[float]

    __table_args__ = (Index(None, "connection_id", "search_type", "grain", "day"),)


class KeywordRow(SearchPerformanceBase):
    """A tracked phrase."""

    __tablename__ = "search_performance_keywords"

    website_id: Mapped[str] = mapped_column(ID, primary_key=True)
    phrase: Mapped[str] = mapped_column(String(200), primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    target_url: Mapped[str] = mapped_column(String(2048), default="")
    created_at: Mapped[datetime]


class KeywordDataRow(SearchPerformanceBase):
    """A provider's data for a phrase in a country and language. `id` is a hash of all four."""

    __tablename__ = "search_performance_keyword_data"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    source: Mapped[str] = mapped_column(String(64))
    country: Mapped[str] = mapped_column(String(2))
    language: Mapped[str] = mapped_column(String(2))
    phrase: Mapped[str] = mapped_column(String(200))
    volume: Mapped[int | None]
    difficulty: Mapped[int | None]
    cpc: Mapped[float | None]
    competition: Mapped[str] = mapped_column(String(16), default="")
    fetched_at: Mapped[datetime] = mapped_column(index=True)


class IndexNowKeyRow(SearchPerformanceBase):
    """A website's key for IndexNow. It is public: the website serves it."""

    __tablename__ = "search_performance_indexnow_keys"

    website_id: Mapped[str] = mapped_column(ID, primary_key=True)
    key: Mapped[str] = mapped_column(String(128), unique=True)
    created_at: Mapped[datetime]
