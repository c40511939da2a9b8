"""Players of other sites: the page that WordPress embeds by its URL, and the frame that readers get."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import urlsplit

_YOUTUBE = re.compile(
    r"https?://(?:(?:www\.|m\.)?youtube\.com/watch\?v=|youtu\.be/|(?:www\.)?youtube\.com/(?:embed|shorts)/)([\w-]{6,20})",
    re.ASCII,
)
_VIMEO = re.compile(r"https?://(?:(?:www\.)?vimeo\.com/|player\.vimeo\.com/video/)(\d{4,12})", re.ASCII)
_FRAME_HOSTS: Final = frozenset(
    {
        "bandcamp.com", "codepen.io", "codesandbox.io", "embed.podcasts.apple.com", "embed.ted.com",
        "geo.dailymotion.com", "open.spotify.com", "player.vimeo.com", "stackblitz.com", "w.soundcloud.com",
        "www.dailymotion.com", "www.loom.com", "www.openstreetmap.org", "www.youtube-nocookie.com", "www.youtube.com",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Player:
    """A video. `url` is its page, `frame` what its player is loaded from."""

    provider: str
    url: str
    frame: str

    @property
    def html(self) -> str:
        """The player as HTML."""
        title = {"youtube": "YouTube", "vimeo": "Vimeo"}[self.provider]
        return f'<iframe src="{escape(self.frame)}" width="560" height="315" title="{title}" allowfullscreen></iframe>'


def player_of(url: str) -> Player | None:
    """Return the video that a URL of its page or of its player is of; `None` for any other URL.

    URLs with further parameters, such as the second to begin at, are other URLs: they would be lost.
    """
    if match := _YOUTUBE.fullmatch(url.strip()):
        identifier = match[1]
        return Player(
            "youtube",
            f"https://www.youtube.com/watch?v={identifier}",
            f"https://www.youtube.com/embed/{identifier}",
        )
    if match := _VIMEO.fullmatch(url.strip()):
        return Player("vimeo", f"https://vimeo.com/{match[1]}", f"https://player.vimeo.com/video/{match[1]}")
    return None


def is_known_frame(url: str) -> bool:
    """Tell whether an article may have a frame with this page."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("https", "") and parts.hostname in _FRAME_HOSTS and port in (None, 443)
