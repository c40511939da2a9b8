"""Files made of posts, and posts of files: both are worked on in worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pressroom_content.contract import Post, RemotePost, SiteRefused

from pressroom_git.bodies import MarkdownCodec, body_of, body_read
from pressroom_git.escaping import without_raws
from pressroom_git.front_matter import LIQUID, MARKER, changes_of, front_of, has_image, is_live, text, with_state
from pressroom_git.layout import SiteLayout
from pressroom_git.post_files import PostFile
from pressroom_git.repository import MAX_FILE_BYTES, File


def new_file(layout: SiteLayout, shared: bool, post: Post, path: str, now: datetime) -> bytes:
    """Return the content of the file of a new draft. Raises `SiteRefused`."""
    front = with_state(front_of(post, layout.generator), layout.generator, live=False, now=now)
    body = _body(layout, shared, post, path, PostFile.of(b""))
    return bounded(PostFile.new(front, body, layout.form).content)


def changed_file(layout: SiteLayout, shared: bool, post: Post, path: str, there: File) -> bytes:
    """Return a file with a post written to it; its state and what people added stay. Raises `SiteRefused`."""
    file = _editable(path, there)
    body = _body(layout, shared, post, path, file)
    fields = layout.fields(file.front, path)
    return file.with_front(changes_of(post, fields, layout.generator)).with_body(body).content


def file_in_state(layout: SiteLayout, path: str, there: File, live: bool, now: datetime) -> tuple[bytes, str]:
    """Return a file whose post is live or a draft, and the post's title. Raises `SiteRefused`."""
    file = _editable(path, there)
    made = file.with_front(with_state(file.front, layout.generator, live=live, now=now))
    return made.content, text(file.front.get("title")) or path


def posts_of(layout: SiteLayout, url: str, files: Sequence[tuple[str, File]]) -> list[RemotePost]:
    """Return the posts of files of a site, each file with its path."""
    return [_post(layout, url, path, file) for path, file in files]


def bounded(content: bytes) -> bytes:
    """Return the content of a file. Raises `SiteRefused` where it is too large."""
    if len(content) > MAX_FILE_BYTES:
        raise SiteRefused(f"the file would have {len(content)} bytes, and may have {MAX_FILE_BYTES}")
    return content


def _body(layout: SiteLayout, shared: bool, post: Post, path: str, there: PostFile) -> str:
    """Return the body of a post for its file. Raises `SiteRefused` where it has what may not be written there."""
    body = _raw(layout, shared, post, path, there) if post.raw else body_of(post, layout.generator, path)
    return without_raws(body) if there.front.get(LIQUID) is False else body


def _raw(layout: SiteLayout, shared: bool, post: Post, path: str, there: PostFile) -> str:
    if path.endswith(".html"):
        raise SiteRefused(f"{path} is a file of HTML, whose blocks cannot be told apart; edit it in the repository")
    if shared or path.endswith(".mdx"):
        codec = MarkdownCodec(layout.generator)
        known = set(codec.programs(there.body))
        if any(one not in known for one in codec.programs(post.raw)):
            raise SiteRefused(
                f"{path} would get a block that the generator runs as a program and that was not in it",
                hint="Blocks such as shortcodes are kept where they are; write new ones in the repository.",
            )
    return post.raw


def _editable(path: str, file: File) -> PostFile:
    read = PostFile.of(file.content)
    if not read.readable:
        raise SiteRefused(f"{path} is not UTF-8, so it is left as it is", hint="Save it as UTF-8, then try again.")
    return read


def _post(layout: SiteLayout, url: str, path: str, file: File) -> RemotePost:
    read, generator = PostFile.of(file.content), layout.generator
    front, raw = read.front, read.body if read.readable and not path.endswith(".html") else ""
    return RemotePost(
        id=path,
        url=layout.url(url, front, path),
        state="live" if is_live(front, generator) else "draft",
        revision=file.sha,
        html=body_read(read.body.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), generator),
        fields=layout.fields(front, path),
        featured=has_image(front),
        marker=text(front.get(MARKER)),
        updated_at=layout.date(front, path),
        raw=raw,
    )
