"""The tables: connections with sources, fetched days and rows, followed phrases, keyword data, and IndexNow keys."""

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
    """A website at a source of figures. `property` is what the source calls the site.

    `credential` is a JWE for the website; it is empty where the operator's access is used. `status` is `active` or
    `error`. `due_at` is when figures are fetched next, `None` for a source that is asked live. `round_at` is when the
    present round of fetching began, which takes several slices where many days are missing: what is not final is
    fetched once in each. Whoever fetches holds the connection's lock, see `figures.rounds`.
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
    """Whose a property is that is read with the operator's access: one account's. `id` is a hash of both names."""

    __tablename__ = "search_performance_claims"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)


class GoogleSignInRow(SearchPerformanceBase):
    """Somebody who is signing in with Google to connect a website. `id` is a hash of the `state` that they left with.

    `session` names the browser that left. `sealed` is a JWE for the website: the code verifier until the browser is
    back, and the credential while a property is to be chosen, of those that fit, which are in `properties` as JSON.
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
    """A day that was fetched. Unless it is `final`, it is fetched again. `truncated`: the source had more rows."""

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
    """What was counted on a day in one grain. What the grain does not split by is empty."""

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
    """A phrase that somebody follows."""

    __tablename__ = "search_performance_keywords"

    website_id: Mapped[str] = mapped_column(ID, primary_key=True)
    phrase: Mapped[str] = mapped_column(String(200), primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    target_url: Mapped[str] = mapped_column(String(2048), default="")
    created_at: Mapped[datetime]


class KeywordDataRow(SearchPerformanceBase):
    """What a provider told of a phrase in a country and language. `id` is a hash of all four."""

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
