"""The dashboard's article editor: a form with a preview, which never overwrites somebody else's changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import unescape
from typing import Any, Final

from pressroom.columns import new_id
from pressroom.sdk import (
    CallError,
    DashboardPage,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    NotFound,
    PluginContext,
    Route,
    sandboxed_frame,
)

from pressroom_content.articles.analysis import check_size
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, unstored
from pressroom_content.articles.trash import listed_versions
from pressroom_content.config import ContentConfig
from pressroom_content.contract import MediaChoice, media_libraries
from pressroom_content.pages.article import head, reading, requested_article
from pressroom_content.pages.article_form import BLANK, NAMES, ArticleForm, FormErrors
from pressroom_content.pages.article_versions import FIELD_NAMES, VersionDiff, compare, origin_of
from pressroom_content.pages.articles import PATH
from pressroom_content.pages.connect import form_of, fragment, root_of, see_other
from pressroom_content.pages.shown import sentence
from pressroom_content.records import Article
from pressroom_content.rendering.pasting import pasted_markdown
from pressroom_content.websites.store import Websites

NEW: Final = "new"
"""The path segment used instead of an id for an article that is not stored yet."""

MIN_FORM_BYTES: Final = 33_554_432
"""Forms up to this size are always accepted, so that a text too long for an article can be shown again."""

_MAX_IMAGES: Final = 24
_WEBSITES: Final = 200
_MEDIA: Final = "/dashboard/media"
_TOOLS: Final = {
    "create": "create_content",
    "create_publish": "create_content",
    "save": "update_content",
    "save_publish": "update_content",
}
_MESSAGES: Final = {
    "created": "The article is stored as a draft. Publish it when it is ready.",
    "saved": "Saved as version {version}.",
    "same": "Nothing changed, so there is no new version.",
}
_TRASHED: Final = "The article was moved to the trash in the meantime. Restore it in another tab, then save again"
_BLOCK: Final = re.compile(r"\n<(?:p|h[1-6]|ul|ol|pre|table|figure|blockquote|hr)\b")
_FRAME: Final = re.compile(r'\ssrcdoc="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Conflict:
    """A concurrent change: the other person's changes, those that saving would make, and the fields changed by both."""

    since: int
    theirs: VersionDiff | None
    mine: VersionDiff
    both: Sequence[str]
    by: str


class EditPages:
    """Shows the article editor and its preview, and saves articles."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        max_bytes = max(MIN_FORM_BYTES, 4 * self._plugin.config.max_body_bytes)
        page = DashboardPage("Edit an article", _TOOLS, sees="editor")
        return [
            Route(f"{PATH}/<id>/edit", self.edit, ("GET", "POST"), page, max_body_bytes=max_bytes),
            Route(
                f"{PATH}/<id>/pasted", self.pasted, ("POST",), DashboardPage("Pasted text"), max_body_bytes=max_bytes
            ),
            Route(f"{PATH}/<id>/preview", self.preview, ("POST",), DashboardPage("Preview"), max_body_bytes=max_bytes),
        ]

    async def edit(self, request: HttpRequest) -> HttpResponse:
        """Show the form, or save it. If saving fails, show what was typed again. Raises `NotFound`."""
        article = await self._article(request)
        if request.method != "POST":
            done = _MESSAGES.get(request.query.get("done", ""), "")
            message = done.format(version=article.version if article else 1)
            if done == _MESSAGES["saved"] and article is not None and article.status == "published":
                message += " The live post shows the changes once you update it."
            form = _form_of(article) if article else await self._blank(request.subject)
            return await self._page(request, article, form, message=message, saved=bool(done))
        typed = form_of(request)
        base = await self._base(request.subject, article, typed)
        form = ArticleForm.read(typed, base)
        if article is not None and article.status == "trashed":
            return await self._page(request, article, form, typed=typed, errors={"": _TRASHED}, status=409)
        if typed.get("do") not in _TOOLS:
            return await self._page(request, article, form, typed=typed, announce="This is what readers will see.")
        try:
            if article is None:
                return await self._create(request, form, typed)
            return await self._save(request, article, form, base, typed)
        except FormErrors as error:
            return await self._page(request, article, form, typed=typed, errors=error.problems, status=400)
        except InvalidInput as error:
            if error.field == "expected_version" and article is not None:
                return await self._conflict(request, article.id, form, base, typed)
            problems = FormErrors.of(error).problems
            return await self._page(request, article, form, typed=typed, errors=problems, status=400)
        except CallError as error:
            errors = {"": " ".join(filter(None, [f"{error.message.rstrip('.')}.", error.hint]))}
            return await self._page(request, article, form, typed=typed, errors=errors, status=400)

    async def _blank(self, user_id: str) -> ArticleForm:
        """Return an empty form, for the account's website if it has exactly one."""
        websites, _ = await Websites(self._plugin).page(user_id, limit=2)
        return ArticleForm.of(Draft("", "", website_id=websites[0].id if len(websites) == 1 else None))

    async def preview(self, request: HttpRequest) -> HttpResponse:
        """Return the preview of the form's text as JSON, for the frame of the page. Raises `NotFound`."""
        article = await self._article(request)
        typed = form_of(request)
        form = ArticleForm.read(typed, _form_of(article))
        frame, notes = await self._preview(request.subject, article, form, _fraction(typed.get("at", "")))
        match = _FRAME.search(frame)
        content = {"document": unescape(match[1]) if match else "", "notes": notes}
        return HttpResponse(json.dumps(content).encode("utf-8", "replace"), media_type="application/json")

    async def pasted(self, request: HttpRequest) -> HttpResponse:
        """Return the Markdown of HTML from the clipboard as JSON, empty if it is too complex. Raises `NotFound`."""
        await self._article(request)
        html, markdown = form_of(request).get("html", ""), ""
        with suppress(InvalidInput):
            markdown = await self._plugin.services.workers.run(
                pasted_markdown, html, owner=request.subject, what="the pasted text"
            )
        return HttpResponse(
            json.dumps({"markdown": markdown}).encode("utf-8", "replace"), media_type="application/json"
        )

    async def _article(self, request: HttpRequest) -> Article | None:
        return None if request.path_params["id"] == NEW else await requested_article(self._plugin, request)

    async def _base(self, user_id: str, article: Article | None, typed: Mapping[str, str]) -> ArticleForm:
        """Return the form as it was when the person opened it, or of the newest version if that one is not stored."""
        version = typed.get("version", "")
        if article is None or not (version.isascii() and version.isdecimal() and len(version) < 10):
            return _form_of(article)
        try:
            return _form_of(await Articles(self._plugin).get(user_id, article.id, int(version)))
        except NotFound:  # only a limited number of versions is stored
            return _form_of(article)

    async def _create(self, request: HttpRequest, form: ArticleForm, typed: Mapping[str, str]) -> HttpResponse:
        changes = form.changes_from(BLANK)
        await self._check_places(request.subject, changes)
        draft = Draft("", "").with_changes({"title": "", **changes})
        async with request.charge("create_content") as is_free:
            created = await Articles(self._plugin).create(
                request.subject, draft, request_id=typed.get("request_id", "")[:100] or None, origin=origin_of(request)
            )
            if created.repeated:
                is_free()
        return await self._done(request.subject, created.article, typed, "created")

    async def _save(
        self, request: HttpRequest, article: Article, form: ArticleForm, base: ArticleForm, typed: Mapping[str, str]
    ) -> HttpResponse:
        changes = form.changes_from(base)
        await self._check_places(request.subject, changes)
        version = typed.get("version", "")
        expected = int(version) if version.isascii() and version.isdecimal() and len(version) < 10 else 0
        updated = await Articles(self._plugin).update(
            request.subject, article.id, expected, changes=changes, origin=origin_of(request)
        )
        return await self._done(request.subject, updated.article, typed, "saved" if updated.changed else "same")

    async def _done(self, user_id: str, article: Article, typed: Mapping[str, str], done: str) -> HttpResponse:
        """Redirect to the form, or to the article's publications."""
        if not typed["do"].endswith("_publish"):
            return see_other(self._plugin, f"{PATH}/{article.id}/edit?done={done}")
        website = ""
        if article.website_id:
            with suppress(NotFound):  # it was disconnected
                website = f"/{(await Websites(self._plugin).get(user_id, article.website_id)).id}"
        return see_other(self._plugin, f"{PATH}/{article.id}/publications{website}?done={done}")

    async def _check_places(self, user_id: str, changes: Mapping[str, Any]) -> None:
        """Raise `FormErrors` if the account does not have a changed website or image."""
        if website_id := changes.get("website_id"):
            try:
                await Websites(self._plugin).get(user_id, website_id)
            except NotFound:
                raise FormErrors({"website_id": "is no longer connected; choose another one"}) from None
        if media_id := changes.get("featured_media_id"):
            for _, library in media_libraries(self._plugin):
                try:
                    await library.read(self._plugin, user_id, media_id)
                except NotFound:
                    continue
                return
            raise FormErrors({"featured_media_id": "is no longer in your media library; choose another one"})

    async def _conflict(
        self, request: HttpRequest, id_: str, form: ArticleForm, base: ArticleForm, typed: Mapping[str, str]
    ) -> HttpResponse:
        """Show what somebody else saved in the meantime, with the person's own text in the form."""
        newest = await Articles(self._plugin).get(request.subject, id_)
        merged, both = form.rebased(base, _form_of(newest))
        since, theirs = typed.get("version", ""), None
        number = int(since) if since.isascii() and since.isdecimal() and len(since) < 10 else 0
        run = self._plugin.services.workers.run
        try:
            before = await Articles(self._plugin).get(request.subject, id_, number)
            theirs = await run(compare, before, newest, owner=request.subject, what="the comparison")
        except NotFound:  # only a limited number of versions is stored
            pass
        mine = await run(compare, newest, _with(newest, merged), owner=request.subject, what="the comparison")
        by = next((version.origin for version in await listed_versions(self._plugin, request.subject, id_)), "")
        conflict = Conflict(number, theirs, mine, [FIELD_NAMES[name] for name in both], by)
        fields = {**typed, "version": str(newest.version)}
        return await self._page(request, newest, merged, typed=fields, conflict=conflict, status=409)

    async def _preview(
        self, user_id: str, article: Article | None, form: ArticleForm, at: float | None = None
    ) -> tuple[str, Sequence[str]]:
        """Return a frame with a form's text, and notes about it. `at` is the cursor's position, from 0 to 1."""
        draft = form.drafted(Draft.of(article) if article else Draft("", ""), _form_of(article))
        preview = replace(article, **_field_values(draft)) if article else unstored(user_id, draft)
        try:
            check_size(self._plugin, preview.body)
            view = await reading(self._plugin, preview)
        except InvalidInput as error:
            return "", [f"The text cannot be shown: it {error.problem}."]
        notes = [*(f"Left out for safety: {part}" for part in view.removed), *view.warnings]
        view = view if at is None else replace(view, html=_marked(view.html, at))
        text = self._plugin.templates.render("article_frame.html", reading=view)
        frame = sandboxed_frame(text, title="Preview", base_url=self._plugin.base_url, lang=preview.language)
        return frame, notes

    async def _images(self, user_id: str, image_id: str) -> Sequence[MediaChoice]:
        """Return the images to choose from, including the chosen one."""
        choices: list[MediaChoice] = []
        for _, library in media_libraries(self._plugin):
            if library.recent is not None:
                choices += await library.recent(self._plugin, user_id, _MAX_IMAGES)
        if image_id and image_id not in (choice.id for choice in choices):
            choices.insert(0, MediaChoice(image_id, "The image that it has"))
        return choices

    async def _page(
        self,
        request: HttpRequest,
        article: Article | None,
        form: ArticleForm,
        *,
        typed: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
        conflict: Conflict | None = None,
        message: str = "",
        announce: str = "",
        saved: bool = False,
        status: int = 200,
    ) -> HttpResponse:
        typed, errors = typed or {}, errors or {}
        frame, notes = await self._preview(request.subject, article, form)
        websites, _ = await Websites(self._plugin).page(request.subject, limit=_WEBSITES)
        path = f"{PATH}/{article.id if article else NEW}"
        root = root_of(self._plugin)
        image_id = form.texts["featured_media_id"]
        request_id = typed.get("request_id", "") if "client_request_id" not in errors else ""
        return fragment(
            "article_edit.html",
            self._plugin,
            request,
            status=status,
            **(await head(self._plugin, request, article, "edit") if article else {"article": None}),
            trashed=article is not None and article.status == "trashed",
            own_path=root + path,
            all_path=root + PATH,
            texts=form.texts,
            version=typed.get("version") or (article.version if article else ""),
            request_id=request_id[:100] or new_id("f"),
            errors={name: _problem(name, text) for name, text in errors.items()},
            field_names=FIELD_NAMES,
            names=NAMES,
            conflict=conflict,
            message=message,
            announce=announce,
            saved=saved,
            frame=frame,
            notes=notes,
            websites=[(website.id, website.name) for website in websites],
            has_images=any(library.recent is not None for _, library in media_libraries(self._plugin)),
            images=await self._images(request.subject, image_id),
            media_path=f"{root}{_MEDIA}",
            media_token=request.csrf_token_for(_MEDIA),
            max_bytes=self._plugin.config.max_body_bytes,
            owner=request.subject,
            preview_token=request.csrf_token_for(f"{path}/preview"),
            paste_token=request.csrf_token_for(f"{path}/pasted"),
        )


def _form_of(article: Article | None) -> ArticleForm:
    return ArticleForm.of(Draft.of(article)) if article else BLANK


def _field_values(draft: Draft) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in Draft.__dataclass_fields__}


def _with(article: Article, form: ArticleForm) -> Article:
    """Return an article with a form's values applied, as far as they are valid."""
    return replace(article, **_field_values(form.drafted(Draft.of(article), _form_of(article))))


def _problem(name: str, text: str) -> str:
    """Return the problem of a field as a sentence for people."""
    if name == "client_request_id":
        return "This form was already saved as an article, which is under Articles. Save again to create another one."
    return sentence(text)


def _fraction(text: str) -> float | None:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return None


def _marked(html: str, at: float) -> str:
    """Return HTML with a mark before the block near the position `at`, to which the frame scrolls."""
    before = [match.start() for match in _BLOCK.finditer(html) if match.start() <= at * len(html)]
    position = before[-1] if before else 0
    return f'{html[:position]}<span class="here"></span>{html[position:]}' if position else html
