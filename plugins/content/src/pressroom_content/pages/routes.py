"""The routes of the dashboard's article and calendar pages."""

from __future__ import annotations

from collections.abc import Sequence

from pressroom.sdk import PluginContext, Route

from pressroom_content.pages.article import ArticlePages
from pressroom_content.pages.article_edit import EditPages
from pressroom_content.pages.article_publications import PublicationPages, PublishPages
from pressroom_content.pages.article_versions import VersionPages
from pressroom_content.pages.articles import ArticleList
from pressroom_content.pages.calendar import CalendarPages


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the routes, in the order of the navigation."""
    pages = (ArticleList, CalendarPages, ArticlePages, EditPages, VersionPages, PublicationPages, PublishPages)
    return [route for page in pages for route in page(plugin).routes()]
