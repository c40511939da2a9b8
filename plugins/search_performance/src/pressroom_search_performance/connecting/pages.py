"""The dashboard page "Search sources": the connections of each website, and the forms to change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from urllib.parse import parse_qsl, quote, urlsplit

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, InvalidInput, NotFound, PluginContext, Route
from pressroom_content.contract import CredentialField, Website, WebsiteRepository, content_services

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.connecting import Offer, can_sign_in, connect, offers
from pressroom_search_performance.connecting.signing_in import GoogleSignIns
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.figures.fetching import wake
from pressroom_search_performance.host import CALLBACK, PAGE, root_of, website_on_page
from pressroom_search_performance.sources import google

_MAX_FIELDS = 40
_NOTHING = '<span class="muted">not connected</span>'


def routes(plugin: PluginContext[SearchPerformanceConfig]) -> Sequence[Route]:
    """Return the routes of the pages."""
    pages = SearchPages(plugin)
    page = DashboardPage("Search sources", group="Search", sees="owner", posts="owner")
    redirecting_page = replace(page, redirecting=can_sign_in(plugin))
    # A parameter in the path keeps the route out of the navigation.
    callback = CALLBACK.replace(f"/{google.NAME}/", "/<source>/")
    return [
        Route(PAGE, pages.overview, page=page),
        Route(f"{PAGE}/<website_id>", pages.website, ("GET", "POST"), redirecting_page),
        Route(callback, pages.back_from_google, page=redirecting_page),
    ]


class SearchPages:
    """Request handlers that show, create and delete connections."""

    def __init__(self, plugin: PluginContext[SearchPerformanceConfig]) -> None:
        self._plugin = plugin

    async def overview(self, request: HttpRequest) -> HttpResponse:
        """List the websites of the signed-in user."""
        websites, cursor = await self._websites.page(request.subject, limit=100)
        connections = await SourceConnections(self._plugin).every(request.subject)
        rows = "".join(
            self._row(website, [connection for connection in connections if connection.website_id == website.id])
            for website in websites
        )
        more = "<p>Only the newest 100 websites are shown.</p>" if cursor else ""
        websites_page = f"{urlsplit(self._plugin.base_url).path.rstrip('/')}/dashboard/websites"
        none = (
            '<section class="panel"><div class="blank"><h2>No websites yet</h2>'
            "<p>Search figures belong to a website. Connect one first.</p>"
            f'<p class="actions"><a class="button" href="{escape(websites_page)}">Connect a website</a></p>'
            "</div></section>"
        )
        titles = ", ".join(offer.title for offer in offers(self._plugin).values())
        return _page(
            "Search sources",
            f'<p class="lead">Connect your websites with {escape(titles)}. What you enter is stored encrypted, and '
            "never shown again.</p>",
            f'<section class="panel"><ul class="rows">{rows}</ul>{more}</section>' if rows else none,
        )

    async def website(self, request: HttpRequest) -> HttpResponse:
        """Show one website, or process a submitted form. Raises `NotFound`."""
        website = await website_on_page(self._plugin, request, request.path_params["website_id"])
        if request.method != "POST":
            return await self._show(request, website)
        typed = _typed(request)
        offer = offers(self._plugin).get(typed.get("source", ""))
        if offer is None:
            raise NotFound("this server no longer has that source; open the page again")
        try:
            leads_to = await self._do(request, website, offer, typed)
        except InvalidInput as error:
            return await self._show(request, website, offer.name, typed, error)
        return HttpResponse(b"", 303, headers={"Location": leads_to or _action(self._plugin, website.id)})

    async def back_from_google(self, request: HttpRequest) -> HttpResponse:
        """Complete a sign-in with Google and connect the website. Raises `Forbidden` and `NotFound`."""
        if request.path_params["source"] != google.NAME:
            raise NotFound(f"there is nothing at {request.path}")
        sign_ins = GoogleSignIns(self._plugin)
        sign_in = await sign_ins.take(request.subject, request.session, request.query.get("state", ""))
        website = await website_on_page(self._plugin, request, sign_in.website_id)
        try:
            await sign_ins.finish(request.subject, request.session, website, sign_in, request.query)
        except InvalidInput as error:
            return await self._show(request, website, google.NAME, {}, error)
        return HttpResponse(b"", 303, headers={"Location": _action(self._plugin, website.id)})

    async def _do(self, request: HttpRequest, website: Website, offer: Offer, typed: Mapping[str, str]) -> str:
        """Perform the action of a form. Return the URL to redirect to, or an empty string for the page itself."""
        user_id, session = request.subject, request.session
        connections, sign_ins = SourceConnections(self._plugin), GoogleSignIns(self._plugin)
        previous = await sign_ins.signed_in_with(user_id, website.id) if offer.signs_in else {}
        match typed.get("do"):
            case "sign_in":
                return await sign_ins.begin(user_id, session, website)
            case "choose":
                await sign_ins.choose(user_id, session, website, typed.get("property", ""))
            case "cancel":
                await sign_ins.cancel(user_id, session, website.id)
            case "connect":
                await connect(self._plugin, user_id, website, offer, typed)
                await sign_ins.withdraw(user_id, previous)
            case "disconnect":
                await connections.disconnect(user_id, website.id, offer.name)
                await sign_ins.withdraw(user_id, previous)
            case "fetch":
                await connections.hurry(user_id, website.id, offer.name)
                connection = (await connections.of(user_id, website.id)).get(offer.name)
                if connection is not None and connection.due_at is not None:
                    await wake(self._plugin, connection.id, user_id, connection.due_at)
            case _:
                raise InvalidInput("", "use the buttons of the page")
        return ""

    @property
    def _websites(self) -> WebsiteRepository:
        return content_services(self._plugin).websites

    def _row(self, website: Website, connections: Sequence[SourceConnection]) -> str:
        titles = offers(self._plugin)
        states = " ".join(
            _state(connection, titles[connection.source].title if connection.source in titles else connection.source)
            for connection in connections
        )
        link = f'<a href="{escape(root_of(self._plugin))}{PAGE}/{quote(website.id)}">{escape(website.name)}</a>'
        return (
            f'<li><div class="row-main"><div class="row-title">{link}</div><div class="row-note">{escape(website.url)}'
            f"</div></div><div>{states or _NOTHING}</div></li>"
        )

    async def _show(
        self,
        request: HttpRequest,
        website: Website,
        source: str = "",
        typed: Mapping[str, str] | None = None,
        error: InvalidInput | None = None,
    ) -> HttpResponse:
        connections = SourceConnections(self._plugin)
        existing = await connections.of(request.subject, website.id)
        target = _Target(_action(self._plugin, website.id), request.csrf_token_for(f"{PAGE}/{website.id}"))
        choices = await GoogleSignIns(self._plugin).choices(request.subject, request.session, website.id)
        panels = []
        for offer in offers(self._plugin).values():
            submitted = offer.name == source
            days = await connections.days(existing[offer.name]) if offer.name in existing else 0
            panels.append(
                self._panel(
                    target,
                    offer,
                    existing.get(offer.name),
                    days,
                    (typed or {}) if submitted else {},
                    error if submitted else None,
                    choices if offer.signs_in else (),
                )
            )
        root = escape(root_of(self._plugin))
        figures = f'<a href="{root}/dashboard/performance/{quote(website.id)}">See the figures</a>' if existing else ""
        back = f'<p class="links"><a href="{root}{PAGE}">All websites</a>{figures}</p>'
        lead = f'<p class="lead">{escape(website.url)}</p>'
        return _page(website.name, lead, "".join(panels) + back, 400 if error else 200)

    def _panel(
        self,
        target: _Target,
        offer: Offer,
        connection: SourceConnection | None,
        days: int,
        typed: Mapping[str, str],
        error: InvalidInput | None,
        choices: Sequence[str],
    ) -> str:
        state = _state(connection) if connection is not None else ""
        parts = [f'<div class="panel-head"><h2>{escape(offer.title)}</h2>{state}</div>']
        if offer.summary:
            parts.append(f'<p class="muted">{escape(offer.summary)}</p>')
        if error is not None:
            focus = "" if error.field in _field_names(offer) else ' tabindex="-1" autofocus'
            message = escape(_error_text(offer, error))
            parts.append(f'<p class="notice wrong" id="{_problem_id(offer)}" role="alert"{focus}>{message}</p>')
        if connection is not None:
            parts.append(self._connected(target, offer, connection, days))
        form = _form(target, offer, connection, typed, error.field if error is not None else "")
        opening = "Change the connection" if connection is not None else "Connect"
        if choices:
            parts.append(_choice(target, offer, choices))
            opening = "Connect another way"
        elif offer.signs_in and (connection is None or connection.status == "error"):
            parts.append(_sign_in(target, offer))
            opening = "Connect another way"
        elif offer.signs_in:
            form = f'<div class="stack">{_sign_in(target, offer)}<p>Or enter a credential:</p>{form}</div>'
        open_attribute = " open" if error is not None and typed.get("do") == "connect" else ""
        parts.append(f'<details class="more"{open_attribute}><summary>{opening}</summary>{form}</details>')
        return f'<section class="panel" id="source-{escape(offer.name)}">{"".join(parts)}</section>'

    def _connected(self, target: _Target, offer: Offer, connection: SourceConnection, days: int) -> str:
        parts = [f"<p>{escape(offer.label)}: <strong>{escape(connection.property)}</strong></p>"]
        if offer.fetched:
            fetched = f" Last fetched {_moment(connection.fetched_at)}." if connection.fetched_at else ""
            parts.append(f"<p>{days} of {self._plugin.config.history_days} days have been fetched.{fetched}</p>")
        if connection.last_error:
            kind = "wrong" if connection.status == "error" else "careful"
            parts.append(f'<p class="notice {kind}">{escape(_sentence(connection.last_error))}</p>')
        buttons = [("fetch", "Fetch now")] if offer.fetched else []
        buttons.append(("disconnect", "Disconnect and delete the figures" if offer.fetched else "Disconnect"))
        forms = "".join(
            _posting(target, offer, action, f'<button class="button quiet small">{label}</button>')
            for action, label in buttons
        )
        return f'{"".join(parts)}<div class="actions">{forms}</div>'


@dataclass(frozen=True, slots=True)
class _Target:
    """The URL that a website's forms post to, and their CSRF token."""

    action: str
    csrf: str


def _posting(target: _Target, offer: Offer, action: str, content: str, attributes: str = "") -> str:
    """Return a form with one action for a source."""
    values = {"csrf": target.csrf, "source": offer.name, "do": action}
    hidden = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in values.items())
    return f'<form method="post" action="{target.action}"{attributes}>{hidden}{content}</form>'


def _form(
    target: _Target, offer: Offer, connection: SourceConnection | None, typed: Mapping[str, str], invalid_field: str
) -> str:
    """Return the form for a credential. `invalid_field` is the name of the invalid field, if any."""
    value = typed.get("property", connection.property if connection else "")
    site = CredentialField("property", offer.label, offer.hint, secret=False)
    fields = [_input(offer, site, value, invalid_field)]
    if offer.operators:
        fields.append(_operators(offer))
    fields += [
        _input(offer, field, "" if field.secret else typed.get(field.name, ""), invalid_field) for field in offer.fields
    ]
    content = f'{"".join(fields)}<p class="actions"><button class="button">Connect</button></p>'
    return _posting(target, offer, "connect", content, ' autocomplete="off"')


def _sign_in(target: _Target, offer: Offer) -> str:
    content = (
        '<p class="actions"><button class="button" aria-describedby="sign-in-note">Sign in with Google</button></p>'
        '<p class="help" id="sign-in-note">Google asks you to let this server view and manage your Search Console '
        "data. It reads the figures, index status and sitemaps of this website. The only change it makes is to "
        "submit a sitemap when you or your AI client asks for it. You can revoke the access here or in your Google "
        "account.</p>"
    )
    return _posting(target, offer, "sign_in", content)


def _choice(target: _Target, offer: Offer, choices: Sequence[str]) -> str:
    """Return the form for choosing a property after a sign-in."""
    options = "".join(
        f'<label class="option"><input type="radio" name="property" value="{escape(name)}" required'
        f'{" checked" if number == 0 else ""}><span class="option-text"><strong>{escape(name)}</strong></span>'
        f'<span class="option-note">{_kind(name)}</span></label>'
        for number, name in enumerate(choices)
    )
    legend = '<legend class="field-label">You are signed in. Which property has the figures of this website?</legend>'
    content = (
        f'<fieldset class="options">{legend}{options}</fieldset>'
        '<p class="actions"><button class="button">Connect this property</button>'
        '<button class="button quiet" form="cancel-sign-in" formnovalidate>Cancel</button></p>'
    )
    return _posting(target, offer, "choose", content) + _posting(target, offer, "cancel", "", ' id="cancel-sign-in"')


def _kind(site_url: str) -> str:
    if site_url.startswith("sc-domain:"):
        return "The whole domain: every subdomain, http and https."
    return "Pages below this URL only."


def _action(plugin: PluginContext[SearchPerformanceConfig], website_id: str) -> str:
    return f"{escape(root_of(plugin))}{PAGE}/{quote(website_id)}"


def _operators(offer: Offer) -> str:
    if not offer.account:
        return "<p>This server has its own access: leave the other fields empty to use it.</p>"
    return (
        f"<p>Simplest: in {escape(offer.title)} add <strong>{escape(offer.account)}</strong> to the property as "
        "a user, and leave the other fields empty.</p>"
    )


def _error_text(offer: Offer, error: InvalidInput) -> str:
    labels = {field.name: field.label for field in offer.fields} | {"property": offer.label}
    label = labels.get(error.field, "")
    return f"{label}: {error.problem}" if label else _sentence(error.problem)


def _field_names(offer: Offer) -> frozenset[str]:
    return frozenset({"property", *(field.name for field in offer.fields)})


def _problem_id(offer: Offer) -> str:
    return f"{offer.name}-problem"


def _sentence(text: str) -> str:
    """Return a message with a capital first letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def _input(offer: Offer, field: CredentialField, value: str, invalid_field: str) -> str:
    id_ = f"{offer.name}-{field.name}"
    hint = f'<p class="help" id="{id_}-hint">{escape(field.hint)}</p>' if field.hint else ""
    texts = [_problem_id(offer)] if field.name == invalid_field else []
    texts += [f"{id_}-hint"] if field.hint else []
    described = f' aria-describedby="{" ".join(texts)}"' if texts else ""
    described += ' aria-invalid="true" autofocus' if field.name == invalid_field else ""
    required = " required" if field.required else ""
    common = f'class="input" id="{id_}" name="{escape(field.name)}"{described}{required}'
    if field.multiline:
        control = f'<textarea {common} rows="4" spellcheck="false"></textarea>'
    else:
        kind = "password" if field.secret else "text"
        control = f'<input {common} type="{kind}" value="{escape(value)}" autocomplete="off">'
    optional = "" if field.required else ' <span class="muted">(optional)</span>'
    label = f'<label class="field-label" for="{id_}">{escape(field.label)}{optional}</label>'
    return f'<div class="field">{label}{control}{hint}</div>'


def _state(connection: SourceConnection, title: str = "") -> str:
    kind, text = ("bad", "does not work") if connection.status == "error" else ("good", "connected")
    return f'<span class="badge {kind}">{escape(f"{title}: {text}" if title else text)}</span>'


def _moment(time: datetime) -> str:
    return f'<time datetime="{time.isoformat()}">{time:%Y-%m-%d %H:%M} UTC</time>'


def _typed(request: HttpRequest) -> Mapping[str, str]:
    text = request.body.decode("utf-8", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise InvalidInput("", "the form has too many fields") from None
    return {name: value.replace("\0", "") for name, value in pairs}


def _page(title: str, lead: str, content: str, status: int = 200) -> HttpResponse:
    html = f'<header class="page-head"><div><h1>{escape(title)}</h1>{lead}</div></header>'
    html += f'<div class="stack">{content}</div>'
    return HttpResponse(html.encode(), status)
