"""What the stages work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pressroom.accounts.quotas import Quotas
from pressroom.catalog.tool import Catalog
from pressroom.config.models import Settings
from pressroom.observability.metrics import Metrics
from pressroom.pipeline.executors import Executors
from pressroom.pipeline.single_flight import SingleFlight
from pressroom.sdk import Authenticator, Authorizer, CacheIndex, FileStore, Limiter, Observer


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running host, as the pipeline's stages see them."""

    settings: Settings
    catalog: Catalog
    authenticators: tuple[Authenticator, ...]
    authorizers: tuple[Authorizer, ...]
    observers: tuple[Observer, ...]
    brand: Mapping[str, Any]
    files: FileStore
    cache: CacheIndex
    limiter: Limiter
    executors: Executors
    metrics: Metrics
    quotas: Quotas
    single_flight: SingleFlight = field(default_factory=SingleFlight)
