"""The pages of built-in sites: the responses for posts, files, cards and assets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup
from pressroom.sdk import HttpResponse, NotFound

from pressroom_content.builtin_site.appearance import icon_of, style_of
from pressroom_content.builtin_site.bodies import display_body
from pressroom_content.builtin_site.files import names_in
from pressroom_content.builtin_site.frame import (
    REVALIDATE,
    BlogImage,
    LinkPreviews,
    PostView,
    files_path,
    url_of,
)
from pressroom_content.builtin_site.list_pages import ListPages, term_url
from pressroom_content.builtin_site.post_lists import BlogTermKind, PostLists, term_slug
from pressroom_content.builtin_site.store import BuiltinSite, Detour, public_sites
from pressroom_content.builtin_site.summaries import description_of, json_script, page_title, robots_txt, wording
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings

_PLAIN: Final = "text/plain; charset=utf-8"
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_MAX_CONTENTS: Final = 1_000
_RELATED: Final = 3
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_INERT: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


class BuiltinPages(ListPages):
    """Serves the pages of built-in sites."""

    async def post(self, site_key: str, slug: str) -> HttpResponse:
        """Return the page of a post, the redirect from an old URL, or the error page for 404 or 410.

        Raises `NotFound` if the site does not exist.
        """
        website = await self.website(site_key)
        row = await BuiltinSite(self._plugin, website.id).post(slug)
        if row is None:
            return await self.instead(website, slug)
        fields, language = row.fields, row.fields.get("language", "")
        images = await self.images(website, names_in(row.html, str(row.featured.get("url", ""))))
        cover = self.cover(website, row, images)
        image = await LinkPreviews(self._plugin).of_post(website, row, cover)
        words = wording(language or site_settings.read(website.settings).language)
        view = self.post_view(website, row, html=row.html, language=language)
        description = description_of(fields, row.html)
        body = await display_body(self._plugin, row, website, images, files_path(website), words["table"])
        return await self.page(
            website,
            "page.html" if row.kind == "page" else "post.html",
            title=fields.get("meta_title") or page_title(row.title, website.name),
            og_title=fields.get("meta_title") or row.title,
            description=description,
            canonical=self.current(website, fields.get("canonical_url") or "") or view.url,
            language=language,
            post=view,
            body=Markup(body),  # noqa: S704 - sanitised before it was stored
            author=_term(website, "author", fields.get("author") or ""),
            tags=[_term(website, "tag", name) for name in fields.get("tags", [])],
            categories=[_term(website, "category", name) for name in fields.get("categories", [])],
            featured=cover,
            image=image,
            linked_data=json_script(_linked_data(website, row, view, image, description)),
            **({} if row.kind == "page" else await self._around(website, row)),
        )

    async def _around(self, website: Website, row: BuiltinPostRow) -> Mapping[str, Any]:
        """Return the posts that a post links to: the previous one, the next one, and others."""
        lists = PostLists(self._plugin, website)
        older, newer = await lists.neighbours(row)
        neighbour_ids = {neighbour.id for neighbour in (older, newer) if neighbour is not None}
        related = list(await lists.related(row, _RELATED))
        is_related = bool(related)
        if not related:
            newest = await lists.page(limit=_RELATED + 3)
            related = [post for post in newest if post.row.id not in {row.id, *neighbour_ids}][:_RELATED]
        return {
            "previous": None if older is None else self.post_view(website, older),
            "next": None if newer is None else self.post_view(website, newer),
            "others": await self.listed(website, related, row.fields.get("language", "")),
            "is_related": is_related,
        }

    async def robots(self, site_key: str) -> HttpResponse:
        """Return the robots.txt of a site, which allows everything. Raises `NotFound`."""
        website = await self.website(site_key)
        return HttpResponse(robots_txt([f"{website.url}/sitemap.xml"]), media_type=_PLAIN)

    async def root_robots(self) -> HttpResponse:
        """Return the robots.txt of the server, with its own sitemap and those of all sites with a live post."""
        sites = await public_sites(self._plugin)
        sitemaps = [f"{self._plugin.base_url}/sitemap.xml", *(f"{site.url}/sitemap.xml" for site in sites)]
        return HttpResponse(robots_txt(sitemaps), media_type=_PLAIN)

    async def contents(self, site_key: str) -> HttpResponse:
        """Return the list of posts as Markdown, following the llms.txt convention. Raises `NotFound`."""
        website = await self.website(site_key)
        settings = site_settings.read(website.settings)
        rows = await BuiltinSite(self._plugin, website.id).live(limit=_MAX_CONTENTS)
        lines = [f"# {_line(website.name)}", ""]
        if settings.description:
            lines += [f"> {_line(settings.description)}", ""]
        lines += ["## Posts", ""]
        for row in rows:
            note = f": {excerpt}" if (excerpt := _line(row.fields.get("excerpt") or "")) else ""
            title = _line(row.title).replace("[", "(").replace("]", ")")
            lines.append(f"- [{title}]({url_of(website, row)}.md){note}")
        headers = {"Access-Control-Allow-Origin": "*", "Link": f'<{website.url}>; rel="canonical"'}
        text = "\n".join([*lines, ""])
        return HttpResponse(text.encode("utf-8", "replace"), media_type=_MARKDOWN, headers=headers)

    async def instead(self, website: Website, slug: str, *, before: str = "", after: str = "") -> HttpResponse:
        """Return the response for a slug without a live post.

        `before` and `after` surround the slug in the paths of a page's related resources, such as `.md`: they redirect
        to the same resource of another page, and are gone if their page is.
        """
        detour = await BuiltinSite(self._plugin, website.id).detour(slug, website.url)
        if detour is not None and not detour.gone:
            return _redirect(website, detour, before, after)
        status = 404 if detour is None else 410
        if before or after:
            text = b"There is no such page.\n" if detour is None else b"This page was taken down.\n"
            return HttpResponse(text, status, _PLAIN, dict(REVALIDATE))
        return await self.missing(website, status)

    async def file(self, site_key: str, name: str) -> HttpResponse:
        """Return an image that was uploaded to the site. Raises `NotFound`."""
        website = await self.website(site_key)
        file = await BuiltinSite(self._plugin, website.id).file(name)
        if file is None:
            raise NotFound("there is no such file")
        headers = {"Cache-Control": _IMMUTABLE, "X-Content-Type-Options": "nosniff", **_INERT}
        return HttpResponse(file.content, media_type=file.media_type, headers=headers)

    async def card(self, site_key: str, name: str) -> HttpResponse:
        """Return the link preview image of a post. Raises `NotFound`."""
        website = await self.website(site_key)
        if not name.endswith(".png"):
            raise NotFound("there is no image of this post")
        row = await BuiltinSite(self._plugin, website.id).post(name.removesuffix(".png"))
        if row is None:
            return await self.instead(website, name.removesuffix(".png"), before="cards/", after=".png")
        previews = LinkPreviews(self._plugin)
        return await previews.card_image(await previews.card(website, row))

    async def site_card(self, site_key: str) -> HttpResponse:
        """Return the link preview image of the list of posts. Raises `NotFound`."""
        previews = LinkPreviews(self._plugin)
        return await previews.card_image(await previews.card(await self.website(site_key)))

    async def asset(self, site_key: str, name: str, version: str) -> HttpResponse:
        """Return the style sheet of a site (`style.css`) or its default icon (`icon.svg`).

        Raises `NotFound`.
        """
        website = await self.website(site_key)
        settings = site_settings.read(website.settings)
        is_style = name == "style.css"
        content, current = style_of(settings) if is_style else icon_of(website.name, settings)
        caching = _IMMUTABLE if version == current else "no-cache"
        headers = {"Cache-Control": caching, "ETag": f'"{current}"', "X-Content-Type-Options": "nosniff"}
        if is_style:
            return HttpResponse(content, media_type="text/css; charset=utf-8", headers=headers)
        return HttpResponse(content, media_type="image/svg+xml", headers={**headers, **_INERT})


def _redirect(website: Website, detour: Detour, before: str, after: str) -> HttpResponse:
    """Return a single redirect to the final target of a URL."""
    target = detour.target
    if (before or after) and detour.slug:
        target = f"{website.url}/{before}{quote(detour.slug)}{after}"
    return HttpResponse(b"", 301 if detour.permanent else 302, headers={"Location": target, **REVALIDATE})


def _line(text: str) -> str:
    return " ".join(text.split())


def _term(website: Website, kind: BlogTermKind, name: str) -> Mapping[str, str] | None:
    """Return the name of a term and the URL of its list; `None` for an empty name."""
    if not name:
        return None
    slug = term_slug(name)
    return {"name": name, "url": term_url(website, kind, slug) if slug else ""}


def _linked_data(
    website: Website, row: BuiltinPostRow, view: PostView, image: BlogImage | None, description: str
) -> Mapping[str, Any]:
    """Return the post as a schema.org `BlogPosting`."""
    fields = row.fields
    author: Mapping[str, str] = (
        {"@type": "Person", "name": fields["author"]}
        if fields.get("author")
        else {"@type": "Organization", "name": website.name}
    )
    keywords: Sequence[str] = fields.get("tags", [])
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "BlogPosting",
        "headline": row.title[:110],
        **({"description": description} if description else {}),
        "url": view.url,
        "mainEntityOfPage": view.url,
        "datePublished": view.iso,
        "dateModified": view.modified,
        "author": author,
        "publisher": {"@type": "Organization", "name": website.name, "url": website.url},
    }
    if fields.get("language"):
        data["inLanguage"] = fields["language"]
    if keywords:
        data["keywords"] = ", ".join(keywords)
    if image is not None:
        data["image"] = image.url
    return data
