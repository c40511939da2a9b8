"""Every setting of the host: its name, its limits, its default and its meaning."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, Field, SecretStr

from pressroom.config.account_models import AccountsSettings, AuthSettings, OAuthSettings
from pressroom.config.call_models import (
    ImageLinksSettings,
    LimitsSettings,
    MiddlewareSettings,
    PlanSettings,
    PreviewsSettings,
    ToolSettings,
)
from pressroom.config.values import (
    Duration,
    Folder,
    HexColour,
    HttpUrl,
    PlanName,
    PluginId,
    Section,
    Size,
    ToolName,
    WholeNumber,
    ascii_url,
    brand_key,
    database_url,
    redis_url,
    signing_key,
    without_trailing_slash,
)


class ServerSettings(Section):
    """`[server]`: where the server listens, and its timeouts."""

    host: str = Field("127.0.0.1", min_length=1, description="IP address or host name to listen on.")
    port: WholeNumber = Field(8000, ge=0, le=65535, description="Port to listen on; 0 lets the system choose one.")
    trusted_proxies: WholeNumber = Field(
        0, ge=0, le=16, description="Number of reverse proxies in front that append to X-Forwarded-For; 0 trusts none."
    )
    forwarded_secret: SecretStr | None = Field(
        None, min_length=1, description="Shared secret that a trusted proxy puts in the Forwarded header (RFC 7239)."
    )
    max_body_bytes: Size = Field(
        262_144, ge=1024, le=67_108_864, description="Maximum size of the body of a Tools API request."
    )
    request_timeout: Duration = Field(
        15, gt=0, le=600, description="Time that a client has to send the head of a request, and again for its body."
    )
    connections_per_client: WholeNumber = Field(
        256,
        ge=0,
        le=1_000_000,
        description=(
            "Connections that one IP address may have open to one process; behind trusted proxies, requests in "
            "progress for one forwarded address. 0 means no limit."
        ),
    )
    response_timeout: Duration = Field(60, gt=0, le=600, description="Time that the server has to respond.")
    keep_alive_timeout: Duration = Field(65, gt=0, le=3600, description="How long an idle connection is kept open.")
    shutdown_delay: Duration = Field(
        0,
        ge=0,
        le=600,
        description=(
            "Time at shutdown during which /readyz returns 503 while everything else is served as before, so that load "
            "balancers notice."
        ),
    )
    start_timeout: Duration = Field(
        60, gt=0, le=3600, description="Time that each plugin and each store has to open what it needs at the start."
    )
    compression: bool = Field(True, description="Whether public texts are compressed for clients that accept gzip.")
    shutdown_timeout: Duration = Field(
        20, ge=0, le=600, description="Time that calls in progress have to finish at shutdown."
    )


class BrandingSettings(Section):
    """`[branding]`: the name and look of every page, image and response."""

    brander: str = Field("default", description="Name of the brander that creates the promotional block.")
    key: Annotated[str, AfterValidator(brand_key)] = Field(
        "pressroom", pattern=r"^[a-z][a-zA-Z0-9_]{0,31}$", description="Key of the promotional block in responses."
    )
    name: str = Field("Pressroom", min_length=1, max_length=60, description="Name of the service.")
    tagline: str = Field(
        "Publishing tools for people and AI clients.", max_length=160, description="One sentence about the service."
    )
    url: HttpUrl | None = Field(None, description="Home page; by default base_url.")
    docs_url: HttpUrl | None = Field(None, description="Documentation; by default base_url followed by /tools.")
    accent: HexColour = Field("#b9502a", description="Accent colour on light backgrounds.")
    accent_dark: HexColour = Field("#e0764c", description="Accent colour on dark backgrounds.")
    logo_url: str = Field("", max_length=500, description="URL of a logo; if empty, the name is shown.")
    stylesheet: Folder | None = Field(
        None, description="CSS file that pages of the server load after their own CSS, at most 4 MiB."
    )
    templates: Folder | None = Field(
        None,
        description=(
            "Folder of page templates that replace those of the server, such as `base.html`, and of plugins, such as "
            "`content/post.html`; files in its subfolder `static` are served."
        ),
    )


class S3Settings(Section):
    """`[storage.s3]`: how to reach the bucket that `files = "s3://…"` names."""

    endpoint_url: HttpUrl | None = Field(None, description="Endpoint that the server uses; by default that of AWS.")
    public_endpoint_url: HttpUrl | None = Field(
        None, description="Endpoint that clients use, for signed URLs; by default endpoint_url."
    )
    region: str = Field("us-east-1", description="Region that requests are signed for.")
    access_key_id: SecretStr | None = Field(
        None, description="ID of the access key; if empty, the credentials of the environment are used."
    )
    secret_access_key: SecretStr | None = Field(None, description="Secret key that belongs to access_key_id.")
    addressing_style: Literal["auto", "path", "virtual"] = Field("auto", description="How the bucket is addressed.")
    timeout: Duration = Field(10, gt=0, le=120, description="Time that one storage call may take.")


class StorageSettings(Section):
    """`[storage]`: where files and state are stored."""

    path: Folder = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("pressroom", appauthor=False)),
        description="Data folder: local files, the SQLite database and keys.",
    )
    files: str = Field("local", pattern=r"^([a-z][a-z0-9_]*|s3://.+)$", description="`local`, or s3://bucket/prefix.")
    s3: S3Settings = S3Settings()
    database: Annotated[SecretStr, AfterValidator(database_url)] | None = Field(
        None, description="postgresql://… to share accounts between hosts; by default an SQLite file in `path`."
    )
    database_timeout: Duration = Field(10, gt=0, le=60, description="Time that one database statement may take.")
    database_connections: WholeNumber = Field(
        10, ge=1, le=200, description="Maximum number of database connections for the calls of one process."
    )
    database_pooler: Literal["none", "transaction"] = Field(
        "none",
        description=(
            "`transaction` if a pooler such as PgBouncer assigns a connection to each transaction: prepared statements "
            "are then not kept."
        ),
    )
    redis: Annotated[SecretStr, AfterValidator(redis_url)] | None = Field(
        None, description="redis://… to share limits and the cache index between hosts."
    )
    redis_timeout: Duration = Field(0.2, gt=0, le=5, description="Time that one Redis call may take.")
    retention: Duration = Field(86_400, ge=10_800, description="Local files older than this are removed; at least 3h.")
    max_total_bytes: Size = Field(
        5_368_709_120, ge=0, description="Total size above which the oldest local files are removed; 0 means no limit."
    )
    prune_interval: Duration = Field(600, ge=1, description="How often local files are pruned.")

    @property
    def files_backend(self) -> str:
        """The name of the files backend: `files` itself, or `s3` if `files` is the URL of a bucket."""
        return "s3" if self.files.startswith("s3://") else self.files


class CacheSettings(Section):
    """`[cache]`: which results are cached."""

    backend: str = Field(
        "auto", description="`memory`, `redis`, a plugin's backend, or `auto`: `redis` if it is configured."
    )
    seconds: Duration = Field(
        75_600, ge=0, description="How long a result is served from the cache; 0 switches the cache off."
    )
    default_rule: str = Field(
        "default",
        min_length=1,
        description="Name of the cache rule that replaces the server's own, `default`; other rules apply as well.",
    )
    max_entries: WholeNumber = Field(50_000, ge=1, description="Maximum number of results in the memory backend.")


class ExecutorsSettings(Section):
    """`[executors]`: how much runs at once."""

    processes: WholeNumber = Field(
        0, ge=0, le=256, description="Worker processes; 0 means one for each core, at most 8."
    )
    process_queue: WholeNumber = Field(64, ge=1, le=10_000, description="Calls that may wait for a worker process.")
    plugin_processes: WholeNumber = Field(
        0, ge=0, le=256, description="Worker processes for texts and files of accounts; 0: two, or one on one core."
    )
    start_plugin_processes: bool = Field(
        True, description="Whether these processes start with the server instead of when they are first needed."
    )
    threads: WholeNumber = Field(8, ge=1, le=256, description="Worker threads.")
    thread_queue: WholeNumber = Field(64, ge=1, le=10_000, description="Calls that may wait for a thread.")
    coroutines: WholeNumber = Field(256, ge=1, le=100_000, description="Calls that may run on the event loop at once.")
    coroutine_queue: WholeNumber = Field(256, ge=1, le=100_000, description="Calls that may wait for the event loop.")
    niceness: WholeNumber = Field(10, ge=0, le=19, description="Nice value of worker processes (0 to 19).")
    recycle_after: WholeNumber = Field(
        1000, ge=0, description="Number of calls after which a worker process is replaced; 0 means never."
    )


class GraphicsSettings(Section):
    """`[graphics]`: how images are drawn."""

    fonts: tuple[Folder, ...] = Field(
        (), description="Folders of fonts (.ttf, .otf, .ttc) that take precedence over those of packages."
    )


class McpSettings(Section):
    """`[mcp]`: the endpoint for AI clients."""

    enabled: bool = Field(True, description="Whether /api/mcp is served.")
    protocol_versions: tuple[Literal["2025-11-25", "2025-06-18", "2025-03-26"], ...] = Field(
        ("2025-06-18", "2025-03-26"), min_length=1, description="Protocol versions that clients may use."
    )
    instructions: str = Field(
        "", max_length=4000, description="What models are told about the server; by default a summary."
    )
    toolsets: tuple[str, ...] = Field(
        ("core",),
        min_length=1,
        description=(
            "Toolsets that are listed if neither the client nor the owner of its connection chose any; `all` lists "
            "every tool."
        ),
    )
    list_all_up_to: WholeNumber = Field(
        26,
        ge=0,
        le=1000,
        description="If nobody chose toolsets, a plan with at most this many tools lists them all.",
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="Origins of web pages that may call the endpoint, besides the server's own; `*` allows all."
    )
    max_body_bytes: Size = Field(
        4_194_304, ge=1024, le=67_108_864, description="Maximum size of the body of a request."
    )
    max_nesting: WholeNumber = Field(64, ge=8, le=512, description="Maximum nesting depth of JSON.")
    concurrency: WholeNumber = Field(
        8, ge=1, le=1000, description="Calls that one connection may have in progress in one process."
    )
    repeat_retention: Duration = Field(
        604_800, ge=3600, description="How long the result of a call with a client_request_id is kept for repeats."
    )


class JobsSettings(Section):
    """`[jobs]`: background jobs of plugins."""

    concurrency: WholeNumber = Field(
        4,
        ge=0,
        le=1000,
        description=(
            "Jobs that one process runs at once. Urgent jobs, such as publishing, have the same number of their own "
            "slots. One account or one kind may use at most half of them. 0 leaves jobs to other processes."
        ),
    )
    poll_interval: Duration = Field(
        5, ge=0.1, le=3600, description="How often a process looks for jobs that other processes enqueued."
    )
    retention: Duration = Field(604_800, ge=3600, description="How long finished jobs are kept.")


class FetchSettings(Section):
    """`[fetch]`: requests to URLs that users enter, such as those of their sites."""

    private_networks: tuple[IPv4Network | IPv6Network, ...] = Field(
        (),
        description=(
            "The operator's own networks, such as 10.1.0.0/16, to which the server may connect on any port and with "
            "plain http. Everybody with an account can then reach the services there. Otherwise, only https to public "
            "URLs is allowed, and SSH to public hosts on ports 22 and 443."
        ),
    )
    anonymous_bytes: Size = Field(
        134_217_728,
        ge=0,
        description=(
            "Total size of images fetched for callers without an account that are held in memory while their calls "
            "wait; one caller may use half of it. 0 means no limit."
        ),
    )


class PluginSettings(Section):
    """`[plugins.<id>]`: whether a plugin is used, and its own configuration."""

    enabled: bool = Field(True, description="Whether the plugin is loaded.")
    required: bool = Field(False, description="Whether /readyz fails while the plugin does not work.")
    distribution: str = Field("", description="The distribution to use if two offer this ID.")
    config: dict[str, Any] = Field(default_factory=dict, description="The plugin's own configuration.")


class LoggingSettings(Section):
    """`[logging]`: what is logged, and how."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="The lowest level that is logged.")
    format: Literal["auto", "text", "json"] = Field(
        "auto", description="`auto` means text on a terminal and JSON otherwise."
    )
    requests: bool = Field(True, description="Whether every request is logged.")
    health_checks: bool = Field(
        True,
        description="Whether requests for /healthz, /readyz and /metrics are logged; failed ones are always logged.",
    )


class MetricsSettings(Section):
    """`[metrics]`: who may read `/metrics`. Without a port or a token, the server has no such URL."""

    port: WholeNumber | None = Field(
        None, ge=0, le=65535, description="Separate port, on server.host, that serves /metrics."
    )
    token: SecretStr | None = Field(
        None, min_length=1, description="Bearer token that /metrics requires on the public port."
    )


class Settings(Section):
    """The whole configuration."""

    base_url: Annotated[HttpUrl, AfterValidator(without_trailing_slash), AfterValidator(ascii_url)] | None = Field(
        None, description="The server's public URL, without a slash at the end; by default made from host and port."
    )
    builtin_plugins: bool = Field(
        True, description="Whether plugins that come with the server are enabled unless they are switched off."
    )
    safe_mode: bool = Field(
        False,
        description="Whether to load only built-in plugins, whatever else is configured; for troubleshooting.",
    )
    plugins_dir: Folder | None = Field(
        None,
        description=(
            "Folder of one-file plugins: every *.py file and every package in it is enabled unless its ID is switched "
            "off. Whoever can write there can run code on the server."
        ),
    )
    secret_key: Annotated[SecretStr, AfterValidator(signing_key)] | None = Field(
        None,
        description=(
            "Signs file URLs and forms, and encrypts the keys that sign access tokens. By default, it is created once "
            "and stored in [storage] path. All hosts that share a database need the same one."
        ),
    )
    server: ServerSettings = ServerSettings()
    branding: BrandingSettings = BrandingSettings()
    storage: StorageSettings = Field(default_factory=StorageSettings)
    limits: LimitsSettings = LimitsSettings()
    previews: PreviewsSettings = PreviewsSettings()
    image_links: ImageLinksSettings = ImageLinksSettings()
    cache: CacheSettings = CacheSettings()
    middleware: MiddlewareSettings = MiddlewareSettings()
    executors: ExecutorsSettings = ExecutorsSettings()
    graphics: GraphicsSettings = GraphicsSettings()
    auth: AuthSettings = AuthSettings()
    accounts: AccountsSettings = AccountsSettings()
    oauth: OAuthSettings = OAuthSettings()
    mcp: McpSettings = McpSettings()
    jobs: JobsSettings = JobsSettings()
    fetch: FetchSettings = FetchSettings()
    plans: dict[PlanName, PlanSettings] = Field(default_factory=dict, description="Plans by name.")
    tools: dict[ToolName, ToolSettings] = Field(
        default_factory=dict, description="Changes to tools, by slug or MCP name."
    )
    plugins: dict[PluginId, PluginSettings] = Field(default_factory=dict, description="Plugins by id.")
    logging: LoggingSettings = LoggingSettings()
    metrics: MetricsSettings = MetricsSettings()

    @property
    def public_url(self) -> str:
        """The base of all public URLs, without a trailing slash."""
        if self.base_url:
            return self.base_url
        host = self.server.host
        if host in ("0.0.0.0", "::"):  # noqa: S104 - not a URL that a client could use
            host = "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.port}"
