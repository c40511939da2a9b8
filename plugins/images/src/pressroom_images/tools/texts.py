"""What the tools say in words."""

from __future__ import annotations

from collections.abc import Sequence

from pressroom_images.tools.results import ImageOut, License, MediaItem


def found_text(images: Sequence[ImageOut], next_page: int | None, notes: Sequence[str], other_ways: str) -> str:
    """Return the results of a search as a list."""
    many = f"{len(images)} image{'' if len(images) == 1 else 's'}, best first:"
    lines = [many] if images else ["No image was found; try other or fewer words."]
    for one in images:
        size = f"{one.width}x{one.height}" if one.width and one.height else "size unknown"
        lines.append(f"- {one.ref}: {_one_line(one.title) or 'without a title'}, {size}, {_licence(one.license)}")
        creator = f", by {_one_line(one.creator)}" if one.creator else ""
        lines.append(f"  {one.provider}{creator}; look at {one.thumb_url}")
    lines += [f"Note: {note}" for note in notes]
    if next_page is not None:
        lines.append(f"More: page {next_page}.")
    lines.append("Take one with import_image and its ref as image_ref." if images else other_ways)
    return "\n".join(lines)


def described(media: MediaItem) -> str:
    """Return an image of the library in some lines."""
    size = f"{media.width}x{media.height}" if media.width and media.height else "size unknown"
    lines = [
        f"{media.id}: {media.filename}, {media.media_type}, {size}",
        f"  url: {media.url}",
        f"  alt_text: {_one_line(media.alt_text) or 'none yet; add it with update_media'}",
    ]
    if media.caption:
        lines.append(f"  caption: {_one_line(media.caption)}")
    if media.license is not None:
        lines.append(f"  from {media.provider}, {_licence(media.license)}")
    if media.credit_text:
        lines.append(f"  credit, which publishing adds: {_one_line(media.credit_text)}")
    if media.used_in:
        lines.append(f"  used in: {', '.join(media.used_in)}")
    return "\n".join(lines)


def _licence(license_: License) -> str:
    if not license_.code:
        return "your own"
    limits = [
        word
        for word, applies in (
            ("no commercial use", not license_.commercial),
            ("no changes", not license_.modification),
            ("credit required", license_.attribution_required),
        )
        if applies
    ]
    return f"{license_.code} ({', '.join(limits)})" if limits else license_.code


def _one_line(text: str) -> str:
    return " ".join(text.split())
