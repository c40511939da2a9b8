"""Charts of search figures and their text descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from markupsafe import Markup

from pressroom_search_performance.charts.figures import FigureReport, FigureStep, Range
from pressroom_search_performance.charts.svg import (
    Axis,
    Point,
    chart,
    count_axis,
    labels,
    position_axis,
    share_axis,
    sparkline,
)
from pressroom_search_performance.figures.queries import Figures, figures_of
from pressroom_search_performance.tools.common import position_of

_CODES: Final = """
abw Aruba|afg Afghanistan|ago Angola|aia Anguilla|ala Åland Islands|alb Albania|and Andorra|are United Arab Emirates|
arg Argentina|arm Armenia|asm American Samoa|ata Antarctica|atg Antigua and Barbuda|aus Australia|aut Austria|
aze Azerbaijan|bdi Burundi|bel Belgium|ben Benin|bes Bonaire, Sint Eustatius and Saba|bfa Burkina Faso|bgd Bangladesh|
bgr Bulgaria|bhr Bahrain|bhs Bahamas|bih Bosnia and Herzegovina|blm Saint Barthélemy|blr Belarus|blz Belize|
bmu Bermuda|bol Bolivia|bra Brazil|brb Barbados|brn Brunei|btn Bhutan|bwa Botswana|caf Central African Republic|
can Canada|cck Cocos Islands|che Switzerland|chl Chile|chn China|civ Côte d'Ivoire|cmr Cameroon|
cod Congo (Democratic Republic)|cog Congo|cok Cook Islands|col Colombia|com Comoros|cpv Cabo Verde|cri Costa Rica|
cub Cuba|cuw Curaçao|cxr Christmas Island|cym Cayman Islands|cyp Cyprus|cze Czechia|deu Germany|dji Djibouti|
dma Dominica|dnk Denmark|dom Dominican Republic|dza Algeria|ecu Ecuador|egy Egypt|eri Eritrea|esh Western Sahara|
esp Spain|est Estonia|eth Ethiopia|fin Finland|fji Fiji|flk Falkland Islands|fra France|fro Faroe Islands|
fsm Micronesia|gab Gabon|gbr United Kingdom|geo Georgia|ggy Guernsey|gha Ghana|gib Gibraltar|gin Guinea|
glp Guadeloupe|gmb Gambia|gnb Guinea-Bissau|gnq Equatorial Guinea|grc Greece|grd Grenada|grl Greenland|gtm Guatemala|
guf French Guiana|gum Guam|guy Guyana|hkg Hong Kong|hnd Honduras|hrv Croatia|hti Haiti|hun Hungary|idn Indonesia|
imn Isle of Man|ind India|iot British Indian Ocean Territory|irl Ireland|irn Iran|irq Iraq|isl Iceland|isr Israel|
ita Italy|jam Jamaica|jey Jersey|jor Jordan|jpn Japan|kaz Kazakhstan|ken Kenya|kgz Kyrgyzstan|khm Cambodia|
kir Kiribati|kna Saint Kitts and Nevis|kor South Korea|kwt Kuwait|lao Laos|lbn Lebanon|lbr Liberia|lby Libya|
lca Saint Lucia|lie Liechtenstein|lka Sri Lanka|lso Lesotho|ltu Lithuania|lux Luxembourg|lva Latvia|mac Macao|
maf Saint Martin|mar Morocco|mco Monaco|mda Moldova|mdg Madagascar|mdv Maldives|mex Mexico|mhl Marshall Islands|
mkd North Macedonia|mli Mali|mlt Malta|mmr Myanmar|mne Montenegro|mng Mongolia|mnp Northern Mariana Islands|
moz Mozambique|mrt Mauritania|msr Montserrat|mtq Martinique|mus Mauritius|mwi Malawi|mys Malaysia|myt Mayotte|
nam Namibia|ncl New Caledonia|ner Niger|nfk Norfolk Island|nga Nigeria|nic Nicaragua|niu Niue|nld Netherlands|
nor Norway|npl Nepal|nru Nauru|nzl New Zealand|omn Oman|pak Pakistan|pan Panama|per Peru|phl Philippines|plw Palau|
png Papua New Guinea|pol Poland|pri Puerto Rico|prk North Korea|prt Portugal|pry Paraguay|pse Palestine|
pyf French Polynesia|qat Qatar|reu Réunion|rou Romania|rus Russia|rwa Rwanda|sau Saudi Arabia|sdn Sudan|sen Senegal|
sgp Singapore|shn Saint Helena|sjm Svalbard and Jan Mayen|slb Solomon Islands|sle Sierra Leone|slv El Salvador|
smr San Marino|som Somalia|spm Saint Pierre and Miquelon|srb Serbia|ssd South Sudan|stp São Tomé and Príncipe|
sur Suriname|svk Slovakia|svn Slovenia|swe Sweden|swz Eswatini|sxm Sint Maarten|syc Seychelles|syr Syria|
tca Turks and Caicos Islands|tcd Chad|tgo Togo|tha Thailand|tjk Tajikistan|tkl Tokelau|tkm Turkmenistan|
tls Timor-Leste|ton Tonga|tto Trinidad and Tobago|tun Tunisia|tur Türkiye|tuv Tuvalu|twn Taiwan|tza Tanzania|
uga Uganda|ukr Ukraine|ury Uruguay|usa United States|uzb Uzbekistan|vat Holy See|vct Saint Vincent and the Grenadines|
ven Venezuela|vgb Virgin Islands (British)|vir Virgin Islands (US)|vnm Vietnam|vut Vanuatu|wlf Wallis and Futuna|
wsm Samoa|xkk Kosovo|yem Yemen|zaf South Africa|zmb Zambia|zwe Zimbabwe
"""

_NAMES: Final = dict(entry.strip().split(" ", 1) for entry in _CODES.split("|"))


def country_name(code: str) -> str:
    """Return the name of a country, `Unknown` for an empty code or `zzz`, or else the code in upper case."""
    return "Unknown" if code in ("", "zzz") else _NAMES.get(code, code.upper())


_DASH: Final = "—"


@dataclass(frozen=True, slots=True)
class Metric:
    """One of the four metrics. `unit` follows the value in a sentence."""

    key: str
    title: str
    unit: str = ""

    def value(self, figures: Figures | None) -> float | None:
        """Return the value, or `None` if unavailable.

        There is no position without impressions, and some sources report 0 because they have none for a whole website.
        """
        if figures is None:
            return None
        match self.key:
            case "clicks":
                return figures.clicks
            case "impressions":
                return figures.impressions
            case "ctr":
                return figures.ctr if figures.impressions else None
            case _:
                return position_of(figures)

    def text(self, figures: Figures | None) -> str:
        """Return the formatted value, or a dash if unavailable."""
        value = self.value(figures)
        if value is None:
            return _DASH
        match self.key:
            case "ctr":
                return f"{value * 100:.1f} %"
            case "position":
                return f"{value:,.1f}"
            case _:
                return f"{value:,}"

    def axis(self, values: Sequence[float]) -> Axis:
        """Return an axis that fits these values."""
        return _AXES.get(self.key, count_axis)(values)

    def change(self, now: Figures, then: Figures | None) -> ChangeLabel:
        """Return the change between two periods; `then` is `None` if there is nothing to compare with."""
        new, old = self.value(now), self.value(then)
        if new is None or old is None or (self.key in ("clicks", "impressions") and not old):
            return ChangeLabel()
        if self.key == "ctr":
            amount, unit, words = (new - old) * 100, " points", ("higher", "lower")
        elif self.key == "position":
            amount, unit, words = old - new, "", ("better", "worse")
        else:
            amount, unit, words = (new - old) / old * 100, " %", ("more", "less")
        if round(amount, 1) == 0:
            return ChangeLabel("same", "no change", self.text(then))
        text = f"{abs(amount):,.1f}{unit} {words[amount < 0]}"
        return ChangeLabel("better" if amount > 0 else "worse", text, self.text(then))


_AXES: Final = {"ctr": share_axis, "position": position_axis}

METRICS: Final = (
    Metric("clicks", "Clicks", "clicks"),
    Metric("impressions", "Impressions", "impressions"),
    Metric("ctr", "Click-through rate"),
    Metric("position", "Mean position"),
)


@dataclass(frozen=True, slots=True)
class ChangeLabel:
    """The change of a metric. `kind` is `better`, `worse`, `same` or empty; `old` is the earlier value.

    `text` is the amount, phrased so that "than" and the old value can follow: `5.7 % more`.
    """

    kind: str = ""
    text: str = ""
    old: str = ""


def day_text(day: date) -> str:
    """Format a day, as in `21 Nov 2026`."""
    return f"{day.day} {day:%b %Y}"


def span_text(step: FigureStep) -> str:
    """Format the days of a chart point: `Sat 21 Nov 2026`, or `15 to 21 Nov 2026` for a week."""
    if step.start == step.end:
        return f"{step.start:%a} {day_text(step.start)}"
    same_month = step.start.month == step.end.month
    return f"{step.start.day if same_month else day_text(step.start).rpartition(' ')[0]} to {day_text(step.end)}"


def axis_days(days: Sequence[date], *, months: bool) -> Sequence[str]:
    """Return at most five evenly spaced axis labels without duplicates.

    With `months`, the labels are months; the year is added to the first label and wherever it changes.
    """
    last = len(days) - 1
    parts = next((parts for parts in (3, 2, 4) if last % parts == 0), 3) if last > 1 else last
    ticks = [days[round(last * part / parts)] for part in range(parts + 1)] if last > 0 else days
    if not months:
        return [_short(day) for day in ticks]
    years: Mapping[int, date] = {day.year: day for day in reversed(ticks)}
    return [f"{day:%b %Y}" if years[day.year] is day else f"{day:%b}" for day in ticks]


def _short(day: date) -> str:
    return f"{day.day} {day:%b}"


_SAMPLE: Final = Markup(
    '<svg class="plot" viewBox="0 0 32 12" aria-hidden="true" focusable="false"><path class="{}" d="M1 6H31"/></svg>'
)


@dataclass(frozen=True, slots=True)
class FigureChart:
    """A metric with its chart. `total` covers the whole period; `change` compares it with the previous one."""

    metric: Metric
    total: str
    change: ChangeLabel
    chart: Markup
    y: Markup
    x: Markup


def draw_charts(report: FigureReport, selected: Range) -> Sequence[FigureChart]:
    """Return the charts of a report, one for each metric, except those that the source does not provide."""
    metrics = [metric for metric in METRICS if not report.now.impressions or metric.value(report.now) is not None]
    return [_draw_chart(report, selected, metric) for metric in metrics]


def _draw_chart(report: FigureReport, selected: Range, metric: Metric) -> FigureChart:
    points = [
        Point(_point_title(metric, step), metric.value(step.now), metric.value(step.then), step.final)
        for step in report.steps
    ]
    values = [value for point in points for value in (point.now, point.then) if value is not None]
    axis = metric.axis(values)
    then = report.then if report.before else None
    change, total = metric.change(report.now, then), metric.text(report.now)
    period = f"{day_text(report.period.start)} to {day_text(report.period.end)}"
    summary = f"{period}: {total} in all." if metric.unit else f"{period}: {total} overall."
    if change.kind:
        summary += f" The {selected.title} before: {change.old} ({change.text})."
    title = f"{metric.title} by {'week' if selected.step > 1 else 'day'}"
    rendered = chart(f"chart-{metric.key}", title, f"{summary} All values are in the table below.", points, axis)
    days = [step.start for step in report.steps]
    return FigureChart(
        metric=metric,
        total=total,
        change=change,
        chart=rendered,
        y=labels(axis.ticks, "y"),
        x=labels(axis_days(days, months=selected.step > 1), "x"),
    )


def _point_title(metric: Metric, step: FigureStep) -> str:
    unit = f" {metric.unit}" if metric.unit else f" {metric.title.lower()}"
    text = f"{span_text(step)}: " + ("no figures" if step.now is None else f"{metric.text(step.now)}{unit}")
    if step.then is not None:
        text += f"; before: {metric.text(step.then)}"
    return text if step.final else f"{text} (may still change)"


def legend(report: FigureReport, selected: Range) -> Sequence[tuple[Markup, str]]:
    """Return the legend of the charts: pairs of sample line and label."""
    weekly = ", by week" if selected.step > 1 else ""
    entries = [(_SAMPLE.format("now"), f"{day_text(report.period.start)} to {day_text(report.period.end)}{weekly}")]
    if report.before is not None:
        days = f"{day_text(report.before.start)} to {day_text(report.before.end)}"
        entries.append((_SAMPLE.format("then"), f"The {selected.title} before: {days}"))
    if any(not step.final for step in report.steps):
        entries.append((_SAMPLE.format("new"), "Not final: may still change"))
    return entries


def sparks(figures: Sequence[Figures | None], *, compared: date | None) -> dict[str, Any]:
    """Return the clicks of the second half of the days as a sparkline, compared with the first half."""
    half = len(figures) // 2
    clicks = [None if day is None else float(day.clicks) for day in figures[half:]]
    metric = METRICS[0]
    now, then = _sum(figures[half:]), _sum(figures[:half])
    complete = compared is not None and all(day is not None for day in figures[:half])
    return {
        "spark": sparkline(clicks, count_axis([value for value in clicks if value is not None])),
        "clicks": metric.text(now),
        "change": metric.change(now, then if complete else None),
    }


def _sum(figures: Sequence[Figures | None]) -> Figures:
    present = [day for day in figures if day is not None]
    return figures_of(sum(day.clicks for day in present), sum(day.impressions for day in present), 0.0)
