"""A stand-in for DataForSEO: errors have status 200, each request costs money, and Google's limits apply."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Mapping
from typing import Any

from .standing_in import ApiRequest, Refused, Response

LOGIN, PASSWORD = "operator@example.com", "data secret"
LOCATIONS = {"us": 2840, "de": 2276, "li": 2438}
LABS_COUNTRIES = frozenset({2840, 2276})
FIELDS = frozenset({"keywords", "location_code", "language_code"})


class DataForSeo:
    """DataForSEO's data on phrases, and the total it has charged."""

    def __init__(self) -> None:
        self.failing: Response | None = None
        self.volumes: dict[str, int | None] = {}
        self.difficulties: dict[str, int] = {}
        self.earned = 0.0
        self.task_error: tuple[int, str] | None = None
        self._numbers = itertools.count(1)

    def respond(self, request: ApiRequest) -> Any:
        credentials = base64.b64encode(f"{LOGIN}:{PASSWORD}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {credentials}":
            message = "You are not Authorized to Access this Resource."
            raise Refused(401, {"status_code": 40100, "status_message": message, "tasks_count": 0, "tasks": None})
        prefix = "/v3/keywords_data/google_ads/locations/"
        if request.method == "GET" and request.path.startswith(prefix):
            return self._locations(request.path.removeprefix(prefix))
        if request.method != "POST":
            raise Refused(404, {"status_code": 40400, "status_message": "Not Found."})
        (task,) = request.json
        if self.task_error is not None:
            return self._document(0, None, *self.task_error)
        match request.path:
            case "/v3/keywords_data/google_ads/search_volume/live":
                return self._volumes(task)
            case "/v3/dataforseo_labs/google/bulk_keyword_difficulty/live":
                return self._difficulties(task)
        raise Refused(404, {"status_code": 40400, "status_message": "Not Found."})

    def _volumes(self, task: Mapping[str, Any]) -> Any:
        problem = _problem(task)
        if problem:
            return self._document(0, None, 40501, problem)
        result = [
            {
                "keyword": phrase,
                "spell": None,
                "location_code": task["location_code"],
                "language_code": task["language_code"],
                "search_partners": False,
                "competition": "LOW" if phrase in self.volumes else None,
                "competition_index": 7,
                "search_volume": self.volumes.get(phrase),
                "low_top_of_page_bid": 0.4,
                "high_top_of_page_bid": 2.1,
                "cpc": 1.234 if phrase in self.volumes else None,
                "monthly_searches": [{"year": 2026, "month": 10, "search_volume": 50}],
            }
            for phrase in task["keywords"]
        ]
        return self._document(0.09, result)

    def _difficulties(self, task: Mapping[str, Any]) -> Any:
        if task.get("location_code") not in LABS_COUNTRIES:
            return self._document(0, None, 40501, "Invalid Field: 'location_code'.")
        known = [phrase for phrase in task["keywords"] if phrase in self.difficulties]
        items = [
            {"se_type": "google", "keyword": phrase, "keyword_difficulty": self.difficulties[phrase]}
            for phrase in known
        ]
        result = [{"se_type": "google", "location_code": 2840, "items_count": len(items), "items": items or None}]
        return self._document(round(0.01 + 0.0001 * len(items), 4), result)

    def _locations(self, country: str) -> Any:
        if country not in LOCATIONS:
            return self._document(0, None, 40501, "Invalid Field: 'country'.")
        common = {"location_code_parent": None, "country_iso_code": country.upper()}
        region = {"location_code": 20001, "location_name": "Somewhere", "location_type": "Region", **common}
        national = {"location_code": LOCATIONS[country], "location_name": "All", "location_type": "Country", **common}
        return self._document(0, [region, national])

    def _document(self, cost: float, result: Any, code: int = 20000, message: str = "Ok.") -> Any:
        self.earned = round(self.earned + cost, 6)
        task = {
            "id": f"03021544-0696-{next(self._numbers):04}",
            "status_code": code,
            "status_message": message,
            "cost": cost,
            "result_count": len(result or ()),
            "result": result,
        }
        failed = int(code != 20000)
        head = {"version": "0.1.20261001", "status_code": 20000, "status_message": "Ok.", "time": "0.1 sec."}
        return {**head, "cost": cost, "tasks_count": 1, "tasks_error": failed, "tasks": [task]}


def _problem(task: Mapping[str, Any]) -> str:
    if set(task) - FIELDS or not isinstance(task.get("location_code"), int):
        return "Invalid Field."
    phrases = task.get("keywords", [])
    if not 1 <= len(phrases) <= 1000 or len(set(phrases)) < len(phrases):
        return "Invalid Field: 'keywords'."
    if any(len(phrase) > 80 or len(phrase.split()) > 10 or phrase != phrase.lower() for phrase in phrases):
        return "Invalid Field: 'keywords'."
    if any(set(phrase) & set(",!@%^()={};~`<>?\\|\u2015") for phrase in phrases):
        return "Invalid Field: 'keywords'. Keywords have invalid characters or symbols."
    return ""
