"""The dashboard's page "Search": which websites are connected with which sources, and the forms for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from urllib.parse import parse_qsl, quote, urlsplit

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, InvalidInput, NotFound, PluginContext, Route
from pressroom_content.contract import CredentialField, Website, WebsiteRepository, content_services

from pressroom_search_performance.connecting.connecting import Offer, connect, offers
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.figures.fetching import wake
from pressroom_search_performance.host import PAGE, config_of, root_of

_MAX_FIELDS = 40
_NOTHING = '<span class="muted">not connected</span>'


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the pages."""
    pages = SearchPages(plugin)
    page = DashboardPage("Search sources", group="Search")
    return [
        Route(PAGE, pages.overview, page=page),
        Route(f"{PAGE}/<website_id>", pages.website, ("GET", "POST"), page),
    ]


class SearchPages:
    """Shows connections, and makes and ends them."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def overview(self, request: HttpRequest) -> HttpResponse:
        """List the websites of the person who asks."""
        websites, cursor = await self._websites.page(request.subject, limit=100)
        known = await SourceConnections(self._plugin).every(request.subject)
        rows = "".join(self._row(one, [at for at in known if at.website_id == one.id]) for one in websites)
        more = "<p>Only the newest 100 websites are shown.</p>" if cursor else ""
        websites_page = f"{urlsplit(self._plugin.base_url).path.rstrip('/')}/dashboard/websites"
        none = (
            '<section class="panel"><div class="blank"><h2>No websites yet</h2>'
            "<p>Search figures belong to a website. Connect yours first.</p>"
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
        """Show one website, or do what one of its forms asks for. Raises `NotFound`."""
        website = await self._websites.get(request.subject, request.path_params["website_id"])
        if request.method != "POST":
            return await self._show(request, website)
        typed = _typed(request)
        offer = offers(self._plugin).get(typed.get("source", ""))
        if offer is None:
            raise NotFound("this server does not have that source any more; open the page again")
        try:
            await self._do(request.subject, website, offer, typed)
        except InvalidInput as error:
            return await self._show(request, website, offer.name, typed, error)
        return HttpResponse(b"", 303, headers={"Location": _action(self._plugin, website.id)})

    async def _do(self, user_id: str, website: Website, offer: Offer, typed: Mapping[str, str]) -> None:
        connections = SourceConnections(self._plugin)
        match typed.get("do"):
            case "connect":
                await connect(self._plugin, user_id, website, offer, typed)
            case "disconnect":
                await connections.disconnect(user_id, website.id, offer.name)
            case "fetch":
                await connections.hurry(user_id, website.id, offer.name)
                there = (await connections.of(user_id, website.id)).get(offer.name)
                if there is not None and there.due_at is not None:
                    await wake(self._plugin, there.id, user_id, there.due_at)
            case _:
                raise InvalidInput("", "use the buttons of the page")

    @property
    def _websites(self) -> WebsiteRepository:
        return content_services(self._plugin).websites

    def _row(self, website: Website, known: Sequence[SourceConnection]) -> str:
        titles = offers(self._plugin)
        states = " ".join(
            _state(one, titles[one.source].title if one.source in titles else one.source) for one in known
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
        known = await connections.of(request.subject, website.id)
        panels = []
        for offer in offers(self._plugin).values():
            mine = offer.name == source
            days = await connections.days(known[offer.name]) if offer.name in known else 0
            panels.append(
                self._panel(
                    request, offer, known.get(offer.name), days, (typed or {}) if mine else {}, error if mine else None
                )
            )
        root = escape(root_of(self._plugin))
        figures = f'<a href="{root}/dashboard/performance/{quote(website.id)}">See the figures</a>' if known else ""
        back = f'<p class="links"><a href="{root}{PAGE}">All websites</a>{figures}</p>'
        lead = f'<p class="lead">{escape(website.url)}</p>'
        return _page(website.name, lead, "".join(panels) + back, 400 if error else 200)

    def _panel(
        self,
        request: HttpRequest,
        offer: Offer,
        connection: SourceConnection | None,
        days: int,
        typed: Mapping[str, str],
        error: InvalidInput | None,
    ) -> str:
        state = _state(connection) if connection is not None else ""
        parts = [f'<div class="panel-head"><h2>{escape(offer.title)}</h2>{state}</div>']
        if offer.summary:
            parts.append(f'<p class="muted">{escape(offer.summary)}</p>')
        if error is not None:
            parts.append(f'<p class="notice wrong" role="alert">{escape(_told(offer, error))}</p>')
        if connection is not None:
            parts.append(self._connected(request, offer, connection, days))
        opening = "Change the connection" if connection is not None else "Connect"
        form = self._form(request, offer, connection, typed)
        shown = " open" if error is not None else ""
        parts.append(f'<details class="more"{shown}><summary>{opening}</summary>{form}</details>')
        return f'<section class="panel" id="source-{escape(offer.name)}">{"".join(parts)}</section>'

    def _connected(self, request: HttpRequest, offer: Offer, connection: SourceConnection, days: int) -> str:
        told = [f"<p>{escape(offer.label)}: <strong>{escape(connection.property)}</strong></p>"]
        if offer.fetched:
            fetched = f" Last fetched {_moment(connection.fetched_at)}." if connection.fetched_at else ""
            told.append(f"<p>{days} of {config_of(self._plugin).history_days} days are there.{fetched}</p>")
        if connection.last_error:
            kind = "wrong" if connection.status == "error" else "careful"
            told.append(f'<p class="notice {kind}">{escape(connection.last_error)}</p>')
        buttons = [("fetch", "Fetch now")] if offer.fetched else []
        buttons.append(("disconnect", "Disconnect and delete the figures" if offer.fetched else "Disconnect"))
        action = _action(self._plugin, connection.website_id)
        forms = "".join(
            f'<form method="post" action="{action}">{_hidden(request, offer, do)}'
            f'<button class="button quiet small">{label}</button></form>'
            for do, label in buttons
        )
        return f'{"".join(told)}<div class="actions">{forms}</div>'

    def _form(
        self, request: HttpRequest, offer: Offer, connection: SourceConnection | None, typed: Mapping[str, str]
    ) -> str:
        action = _action(self._plugin, request.path_params["website_id"])
        value = typed.get("property", connection.property if connection else "")
        site = CredentialField("property", offer.label, offer.hint, secret=False)
        fields = [_input(offer, site, value)]
        if offer.operators:
            fields.append(_operators(offer))
        fields += [_input(offer, one, "" if one.secret else typed.get(one.name, "")) for one in offer.fields]
        return (
            f'<form method="post" action="{action}" autocomplete="off">'
            f"{_hidden(request, offer, 'connect')}"
            f'{"".join(fields)}<p class="actions"><button class="button">Connect</button></p></form>'
        )


def _action(plugin: PluginContext, website_id: str) -> str:
    return f"{escape(root_of(plugin))}{PAGE}/{quote(website_id)}"


def _operators(offer: Offer) -> str:
    if not offer.account:
        return "<p>This server has access of its own: leave the other fields empty to use it.</p>"
    return (
        f"<p>Simplest: in {escape(offer.title)} add <strong>{escape(offer.account)}</strong> to the property as a "
        "user, and leave the other fields empty.</p>"
    )


def _told(offer: Offer, error: InvalidInput) -> str:
    labels = {one.name: one.label for one in offer.fields} | {"property": offer.label}
    label = labels.get(error.field, "")
    return f"{label}: {error.problem}" if label else f"{error.problem[:1].upper()}{error.problem[1:]}"


def _input(offer: Offer, field: CredentialField, value: str) -> str:
    id_ = f"{offer.name}-{field.name}"
    hint = f'<p class="help" id="{id_}-hint">{escape(field.hint)}</p>' if field.hint else ""
    described = f' aria-describedby="{id_}-hint"' if field.hint else ""
    required = " required" if field.required else ""
    common = f'class="input" id="{id_}" name="{escape(field.name)}"{described}{required}'
    if field.name == "service_account":
        control = f'<textarea {common} rows="4" spellcheck="false"></textarea>'
    else:
        kind = "password" if field.secret else "text"
        control = f'<input {common} type="{kind}" value="{escape(value)}" autocomplete="off">'
    optional = "" if field.required else ' <span class="muted">(optional)</span>'
    label = f'<label class="field-label" for="{id_}">{escape(field.label)}{optional}</label>'
    return f'<div class="field">{label}{control}{hint}</div>'


def _hidden(request: HttpRequest, offer: Offer, do: str) -> str:
    values = {"csrf": request.csrf_token, "source": offer.name, "do": do}
    return "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in values.items())


def _state(connection: SourceConnection, title: str = "") -> str:
    kind, told = ("bad", "does not work") if connection.status == "error" else ("good", "connected")
    return f'<span class="badge {kind}">{escape(f"{title}: {told}" if title else told)}</span>'


def _moment(at: datetime) -> str:
    return f'<time datetime="{at.isoformat()}">{at:%Y-%m-%d %H:%M} UTC</time>'


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
