"""A real WordPress on 127.0.0.1, from unpacked Debian packages; nothing is installed system-wide."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from support.downloads import installed, run
from support.needs import free_port, program, unavailable
from support.run import run_id

PACKAGES: Final = [
    "wordpress",
    "wordpress-theme-twentytwentythree",
    "php8.2-cli",
    "php8.2-common",
    "php8.2-curl",
    "php8.2-gd",
    "php8.2-mbstring",
    "php8.2-mysql",
    "php8.2-opcache",
    "php8.2-readline",
    "php8.2-xml",
    "php8.2-zip",
    "php-getid3",
    "libzip4",
    "libjs-cropper",
    "libjs-prototype",
    "libjs-scriptaculous",
    "libjs-underscore",
    "mariadb-server-core",
    "mariadb-client-core",
    "mariadb-common",
    "libmariadb3",
    "libaio1",
    "liburing2",
    "libsnappy1v5",
]

EXTENSIONS: Final = [
    "ctype",
    "curl",
    "dom",
    "exif",
    "fileinfo",
    "gd",
    "iconv",
    "mbstring",
    "mysqlnd",
    "mysqli",
    "phar",
    "posix",
    "simplexml",
    "tokenizer",
    "xml",
    "xmlreader",
    "xmlwriter",
    "zip",
]

START_SECONDS: Final = 240
STOP_SECONDS: Final = 120
"""Generous timeouts for starting and stopping, in seconds: enough even on a fully loaded machine."""

_COPY: Final = "backup_"
_CONFIG: Final = """<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
$table_prefix = 'wp_';
define('WP_HOME', '{url}'); define('WP_SITEURL', '{url}');
define('WP_ENVIRONMENT_TYPE', 'local'); // application passwords ask for https or for this
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""

_META: Final = """<?php
add_action('init', function () {
  foreach (['_yoast_wpseo_title', '_yoast_wpseo_metadesc', '_yoast_wpseo_focuskw', '_yoast_wpseo_canonical'] as $key)
    register_post_meta('post', $key, ['type' => 'string', 'single' => true, 'show_in_rest' => true,
      'auth_callback' => fn() => current_user_can('edit_posts')]);
  register_post_meta('post', 'footnotes', ['type' => 'string', 'single' => true, 'show_in_rest' => true]);
});
"""
"""A site owner's snippet to make the keys of an SEO plugin writable, and the key for footnotes, as since 6.3."""

_ROUTER: Final = """<?php
$file = $_SERVER['DOCUMENT_ROOT'] . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($file)) return false;
if (is_file(rtrim($file, '/') . '/index.php') && rtrim($file, '/') !== $_SERVER['DOCUMENT_ROOT']) return false;
$_SERVER['SCRIPT_NAME'] = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . '/index.php';
chdir($_SERVER['DOCUMENT_ROOT']);
require 'index.php';
"""

_SETUP: Final = """<?php
define('WP_INSTALLING', true);
$_SERVER += ['HTTP_HOST' => '127.0.0.1', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET',
  'REQUEST_URI' => '/'];
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Test site', 'admin', 'admin@example.test', true, '', 'sign-in-password');
update_option('permalink_structure', '/%postname%/');
$wp_rewrite->init(); flush_rewrite_rules();
$made = [];
foreach (['admin' => 'administrator', 'author' => 'author', 'contributor' => 'contributor'] as $name => $role) {
  $user = get_user_by('login', $name);
  $id = $user ? $user->ID : wp_insert_user(['user_login' => $name, 'user_pass' => 'sign-in-password', 'role' => $role,
    'display_name' => ucfirst($name)]);
  $made[$name] = WP_Application_Passwords::create_new_application_password($id, ['name' => 'tests'])[0];
}
echo json_encode($made);
"""


@dataclass(frozen=True, slots=True)
class WordPress:
    """A running site. `passwords` are application passwords by user: an admin, an author and a contributor.

    `run_sql` runs statements in its database, and returns the result as a line for each row.
    """

    url: str
    passwords: dict[str, str]
    folder: Path
    run_sql: Callable[[str], Sequence[str]]

    def get(self, path: str, **query: object) -> httpx.Response:
        """Send a GET request to the REST API as the admin."""
        words = {name: str(value) for name, value in query.items()}
        return httpx.get(f"{self.url}/wp-json{path}", params=words, auth=("admin", self.passwords["admin"]), timeout=30)

    def send(self, method: str, path: str, document: object = None) -> httpx.Response:
        """Send a writing request to the REST API as the admin."""
        auth = ("admin", self.passwords["admin"])
        return httpx.request(method, f"{self.url}/wp-json{path}", json=document, auth=auth, timeout=30)

    def backed_up(self) -> Callable[[], None]:
        """Copy all tables, and return a function to restore them; ids assigned in between are then assigned again."""
        tables = [name for name in self.run_sql("show tables") if not name.startswith(_COPY)]
        for table in tables:
            copy = f"{_COPY}{table}"
            self.run_sql(f"drop table if exists {copy}; create table {copy} like {table};")
            self.run_sql(f"insert into {copy} select * from {table};")

        def restore() -> None:
            self.run_sql("".join(f"drop table {table}; rename table {_COPY}{table} to {table};" for table in tables))

        return restore


@contextmanager
def wordpress(folder: Path) -> Iterator[WordPress]:
    """Run a fresh site with its data in `folder`. The test cannot run if Debian's packages cannot be downloaded."""
    root = _unpacked()
    lab = _Lab(root, folder)
    try:
        yield lab.start()
    finally:
        lab.stop()


class _Lab:
    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        # The path of a Unix socket is limited to 107 bytes.
        self._socket = Path(f"/tmp/pressroom-{run_id()}-{free_port()}.sock")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._environment = {**os.environ, "LD_LIBRARY_PATH": str(next(root.glob("usr/lib/*-linux-gnu")))}

    def start(self) -> WordPress:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        site = self._folder / "site"
        shutil.copytree(self._root / "usr/share/wordpress", site, symlinks=False, ignore_dangling_symlinks=True)
        (site / "wp-config.php").unlink(missing_ok=True)
        (site / "wp-config.php").write_text(_CONFIG.format(socket=self._socket, url=url))
        (site / "wp-content/uploads").mkdir(parents=True, exist_ok=True)
        (site / "wp-content/mu-plugins").mkdir(exist_ok=True)
        (site / "wp-content/mu-plugins/meta.php").write_text(_META)
        (self._folder / "router.php").write_text(_ROUTER)
        (self._folder / "setup.php").write_text(_SETUP)
        self._start_database()
        result = subprocess.run(
            [*self._php(), str(self._folder / "setup.php"), str(site)],
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=START_SECONDS,
        )
        passwords = json.loads(result.stdout[result.stdout.index("{") :])
        environment = {**self._environment, "PHP_CLI_SERVER_WORKERS": "4"}
        served = [*self._php(), "-S", f"127.0.0.1:{port}", "-t", str(site), str(self._folder / "router.php")]
        self._run(served, environment)
        _wait(lambda: httpx.get(f"{url}/wp-json/", timeout=30).status_code == 200)
        return WordPress(url, passwords, site, self._run_sql)

    def stop(self) -> None:
        for process in reversed(self._processes):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(STOP_SECONDS)
        self._socket.unlink(missing_ok=True)

    def _start_database(self) -> None:
        data, base = self._folder / "database", self._root / "usr"
        common = ["--no-defaults", f"--basedir={base}", f"--datadir={data}"]
        user = f"--user={_user()}"
        install = [str(base / "bin/mariadb-install-db"), *common, "--auth-root-authentication-method=normal"]
        subprocess.run(
            [*install, "--skip-test-db", user],
            env=self._environment,
            capture_output=True,
            check=True,
            timeout=START_SECONDS,
        )
        share = base / "share/mysql"
        self._run(
            [
                str(base / "sbin/mariadbd"),
                *common,
                f"--socket={self._socket}",
                f"--pid-file={self._folder / 'database.pid'}",
                "--skip-networking",
                f"--lc-messages-dir={share}",
                f"--character-sets-dir={share / 'charsets'}",
                user,
                "--innodb-flush-log-at-trx-commit=0",
            ],
            self._environment,
        )

        def created() -> bool:
            return self._sql("create database if not exists wordpress character set utf8mb4").returncode == 0

        _wait(created)

    def _sql(self, statements: str, database: str = "") -> subprocess.CompletedProcess[str]:
        client = [str(self._root / "usr/bin/mariadb"), "--no-defaults", "-S", str(self._socket), "-u", "root", "-N"]
        command = [*client, "-e", statements, *([database] if database else [])]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)

    def _run_sql(self, statements: str) -> Sequence[str]:
        result = self._sql(statements, "wordpress")
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()

    def _php(self) -> list[str]:
        modules = next(self._root.glob("usr/lib/php/20*"))
        command = [str(self._root / "usr/bin/php8.2"), "-n", "-d", f"extension_dir={modules}"]
        for name in EXTENSIONS:
            command += ["-d", f"extension={name}"]
        # Without the cache each request would compile WordPress again, which takes longer than serving it.
        command += ["-d", "zend_extension=opcache"]
        settings = {
            "memory_limit": "256M",
            "upload_max_filesize": "32M",
            "post_max_size": "32M",
            "display_errors": "0",
            "log_errors": "1",
            "opcache.enable_cli": "1",
            "opcache.revalidate_freq": "0",
            "error_log": str(self._folder / "php.log"),
        }
        return [*command, *(part for name, value in settings.items() for part in ("-d", f"{name}={value}"))]

    def _run(self, command: list[str], environment: dict[str, str]) -> None:
        with (self._folder / f"{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        self._processes.append(process)


def _unpacked() -> Path:
    """Return the folder of the unpacked packages."""
    return installed("wordpress", " ".join(PACKAGES), _unpack) / "root"


def _unpack(folder: Path) -> None:
    apt, dpkg = program("apt-get"), program("dpkg")
    packages, root = folder / "packages", folder / "root"
    packages.mkdir()
    download = subprocess.run([apt, "-qq", "download", *PACKAGES], cwd=packages, capture_output=True, check=False)
    if download.returncode != 0:
        unavailable("Debian's packages of WordPress cannot be downloaded: run apt-get update, on Debian 12")
    for package in packages.glob("*.deb"):
        run([dpkg, "-x", str(package), str(root)])
    _follow_links(root)
    shutil.rmtree(packages)


def _follow_links(root: Path) -> None:
    """Point the packages' absolute symbolic links to the unpacked files."""
    for link in (root / "usr/share/wordpress").rglob("*"):
        if link.is_symlink() and (target := link.readlink()).is_absolute():
            link.unlink()
            resolved = root / target.relative_to("/")
            if resolved.exists():
                link.symlink_to(resolved)


def _user() -> str:
    return getpass.getuser()


def _wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            if ready():
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, "WordPress did not start"
        time.sleep(0.05)
