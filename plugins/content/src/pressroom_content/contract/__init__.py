"""What other plugins need of this one.

They read and change articles and websites with `content_services`, and add platforms, image sources, search sources,
scorers, media libraries and languages with the records here. Everything here is public; the rest of `pressroom_content`
is not.

`CONTRACT_VERSION` is its version. While it stays the same, no name, hook or member is removed, renamed or narrowed, and
what is added has a default. What is to go says so with a `DeprecationWarning` and in the changelog, for a minor version
or longer. It goes with the next version of the contract, which comes with a new plugin interface (`pressroom.sdk.API`).
"""

from typing import Final

from pressroom_content.contract.api import SiteApi, SiteErrors, SiteResponse
from pressroom_content.contract.articles import (
    Article,
    ArticleChange,
    ArticleRepository,
    ArticleStatus,
    ArticleSummary,
    BodyFormat,
    slug_of,
)
from pressroom_content.contract.basic_site import BasicSite, SiteAction, work_beside
from pressroom_content.contract.bodies import BlockSite, BodyBlock, BodyCodec
from pressroom_content.contract.bounds import field_text
from pressroom_content.contract.connectors import Approved, CredentialField, SiteConnector
from pressroom_content.contract.control import (
    Control,
    ControlMethod,
    ControlNotProven,
    control_of,
    is_below,
    note_control,
    place_of,
    require_control,
)
from pressroom_content.contract.credentials import CredentialVault
from pressroom_content.contract.extensions import (
    article_reviewers,
    article_scorers,
    image_sources,
    languages,
    media_libraries,
    search_sources,
    site_connectors,
)
from pressroom_content.contract.hookspecs import ContentHooks
from pressroom_content.contract.images import (
    Credit,
    FoundImage,
    ImageLicense,
    ImagePage,
    ImageQuery,
    ImageSource,
    MediaChoice,
    MediaFile,
    MediaLibrary,
)
from pressroom_content.contract.json_api import (
    ErrorPolicy,
    JsonAnswer,
    JsonApi,
    UnreadableJson,
    read_json,
    read_json_or_none,
    retry_after_of,
    with_query,
)
from pressroom_content.contract.languages import Language
from pressroom_content.contract.parameters import Cursor, Day, WebsiteId, cursor_of, read_cursor
from pressroom_content.contract.publications import ArticlePost, PublicationRepository, PublicationStatus
from pressroom_content.contract.rendering import render_body
from pressroom_content.contract.reviewing import (
    ArticleReview,
    ArticleReviewer,
    DuplicateText,
    TextChecker,
    VoiceFinding,
    VoiceReview,
    VoiceRule,
)
from pressroom_content.contract.scoring import (
    ArticleScorer,
    Score,
    ScoreCheck,
    ScoredArticle,
    ScoreReport,
    SearchSnippet,
    SnippetLine,
)
from pressroom_content.contract.search import (
    CheckSite,
    FirstIncomplete,
    Grain,
    SearchLimited,
    SearchQuery,
    SearchRow,
    SearchSource,
    SearchType,
)
from pressroom_content.contract.services import ContentServices, content_services
from pressroom_content.contract.site_errors import (
    RemoteChanged,
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.contract.sites import (
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    MediaSite,
    Post,
    PostState,
    RecallingSite,
    RemoteMedia,
    RemotePost,
    RemoteRedirect,
    Site,
    SiteAddress,
    Term,
    TermKind,
    WorkingSite,
)
from pressroom_content.contract.text_twins import TextTwin, TextTwinRepository
from pressroom_content.contract.websites import BUILTIN, SitePage, Website, WebsiteRepository, WebsiteStatus

CONTRACT_VERSION: Final = "1"
"""The version of this contract. It counts up where plugins have to be changed."""

__all__ = [
    "BUILTIN",
    "CONTRACT_VERSION",
    "Approved",
    "Article",
    "ArticleChange",
    "ArticlePost",
    "ArticleRepository",
    "ArticleReview",
    "ArticleReviewer",
    "ArticleScorer",
    "ArticleStatus",
    "ArticleSummary",
    "BasicSite",
    "BlockSite",
    "BodyBlock",
    "BodyCodec",
    "BodyFormat",
    "Capabilities",
    "CheckSite",
    "ConnectionCheck",
    "ConnectionReport",
    "ContentHooks",
    "ContentServices",
    "Control",
    "ControlMethod",
    "ControlNotProven",
    "CredentialField",
    "CredentialVault",
    "Credit",
    "Cursor",
    "Day",
    "DuplicateText",
    "ErrorPolicy",
    "FirstIncomplete",
    "FoundImage",
    "Grain",
    "ImageLicense",
    "ImagePage",
    "ImageQuery",
    "ImageSource",
    "JsonAnswer",
    "JsonApi",
    "Language",
    "MediaChoice",
    "MediaFile",
    "MediaLibrary",
    "MediaSite",
    "Post",
    "PostState",
    "PublicationRepository",
    "PublicationStatus",
    "RecallingSite",
    "RemoteChanged",
    "RemoteMedia",
    "RemotePost",
    "RemoteRedirect",
    "Score",
    "ScoreCheck",
    "ScoreReport",
    "ScoredArticle",
    "SearchLimited",
    "SearchQuery",
    "SearchRow",
    "SearchSnippet",
    "SearchSource",
    "SearchType",
    "Site",
    "SiteAction",
    "SiteAddress",
    "SiteApi",
    "SiteConnector",
    "SiteError",
    "SiteErrors",
    "SiteGone",
    "SitePage",
    "SiteRefused",
    "SiteRejected",
    "SiteResponse",
    "SiteUnavailable",
    "SnippetLine",
    "Term",
    "TermKind",
    "TextChecker",
    "TextTwin",
    "TextTwinRepository",
    "UnknownOutcome",
    "UnreadableJson",
    "VoiceFinding",
    "VoiceReview",
    "VoiceRule",
    "Website",
    "WebsiteId",
    "WebsiteRepository",
    "WebsiteStatus",
    "WorkingSite",
    "article_reviewers",
    "article_scorers",
    "content_services",
    "control_of",
    "cursor_of",
    "field_text",
    "image_sources",
    "is_below",
    "languages",
    "media_libraries",
    "note_control",
    "place_of",
    "read_cursor",
    "read_json",
    "read_json_or_none",
    "render_body",
    "require_control",
    "retry_after_of",
    "search_sources",
    "site_connectors",
    "slug_of",
    "with_query",
    "work_beside",
]
