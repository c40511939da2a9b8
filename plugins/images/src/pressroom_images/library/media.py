"""An image of a library, as the services hand it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from pressroom_images.tables import MediaRow

Hosting = Literal["download", "hotlink", "either"]


@dataclass(frozen=True, slots=True)
class Media:
    """An image. `url` is where it can be seen: on this server, or where it has to be hotlinked from."""

    id: str
    user_id: str
    provider: str
    title: str
    filename: str
    media_type: str
    width: int
    height: int
    size: int
    alt_text: str
    caption: str
    page_url: str
    url: str
    hosting: Hosting
    license: Mapping[str, Any]
    credit: Mapping[str, str]
    created_at: datetime

    @property
    def hotlinked(self) -> bool:
        """Whether its bytes are elsewhere."""
        return self.size == 0


def media_of(row: MediaRow, base_url: str) -> Media:
    """Return an image without its row."""
    own = f"{base_url}/media/{row.id}/{row.filename}"
    return Media(
        id=row.id,
        user_id=row.user_id,
        provider=row.provider,
        title=row.title,
        filename=row.filename,
        media_type=row.media_type,
        width=row.width,
        height=row.height,
        size=row.size,
        alt_text=row.alt_text,
        caption=row.caption,
        page_url=row.page_url,
        url=own if row.size else row.file_url,
        hosting=cast("Hosting", row.hosting),
        license=row.license,
        credit=row.credit,
        created_at=row.created_at,
    )
