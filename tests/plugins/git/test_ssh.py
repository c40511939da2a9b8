"""Repositories over SSH, against OpenSSH's server: host keys, user keys, and messages to users."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import ConnectionCheck, Site, SiteInfo, SiteRefused, SiteRejected, SiteUnavailable
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.ssh_keys import HostKeys, check_private_key, plain_key
from pressroom_git.ssh_url import SshUrl
from support.origins import StubNames
from support.ssh_git_server import SshGitServer, new_key, serving_git_over_ssh

from .conftest import a_post

TEA = "---\ntitle: Tea\n---\nWords.\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshGitServer]:
    with serving_git_over_ssh(tmp_path / "repositories") as serving:
        serving.commit({"content/posts/tea.md": TEA})
        yield serving


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_at(server: SshGitServer, fetcher: GuardedFetcher, **fields: str) -> Site:
    values = {**server.credential, "generator": "hugo", **fields}
    info = SiteInfo("w_1", f"u_{server.port}", "Test", "https://blog.example.org")
    return connector(GitConfig()).open(info, {name: text for name, text in values.items() if text}, fetcher)


def connections_to(port: int) -> list[str]:
    """Return the states of connections to a port that this side has not closed: 01 is ESTABLISHED, 08 CLOSE_WAIT."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [row[3] for row in rows if row[2].endswith(f":{port:04X}") and row[3] in ("01", "08")]


async def problem_of(site: Site) -> ConnectionCheck:
    """Return the failed check of a site's connection report."""
    report = await site.check()
    assert not report.ok
    [problem] = [check for check in report.checks if check.status == "error"]
    return problem


async def test_nothing_is_sent_to_a_host_with_an_unconfirmed_key(server: SshGitServer, fetcher: GuardedFetcher) -> None:
    problem = await problem_of(site_at(server, fetcher, host_key=""))
    assert server.fingerprint() in problem.message
    assert "publishes" in problem.fix
    assert server.requests == []
    assert "publickey" not in server.log.read_text()  # no authentication was attempted
    for confirmed in (
        server.fingerprint(),
        server.host_key.split(" ", 1)[1],
        f"# 127.0.0.1 SSH-2.0\n{server.host_key}",
    ):
        assert (await site_at(server, fetcher, host_key=confirmed).check()).ok


async def test_nothing_is_sent_to_a_host_with_another_key(
    server: SshGitServer, fetcher: GuardedFetcher, tmp_path: Path
) -> None:
    new_key(tmp_path / "other")
    other = (tmp_path / "other.pub").read_text()
    [expected] = HostKeys.parse(other).fingerprints
    for entered in (expected, f"git.example.org {other}"):
        problem = await problem_of(site_at(server, fetcher, host_key=entered))
        assert expected in problem.message
        assert server.fingerprint() in problem.message
        with pytest.raises(SiteRejected, match="which was entered for it"):
            await site_at(server, fetcher, host_key=entered).create(a_post())
    assert server.requests == []
    assert "publickey" not in server.log.read_text()


async def test_a_host_is_verified_with_its_confirmed_key(
    server: SshGitServer, fetcher: GuardedFetcher, tmp_path: Path
) -> None:
    new_key(tmp_path / "rsa", "-t", "rsa", "-b", "2048")
    for name in ("old", "new"):
        with (server.keys / name).open("a") as file:
            file.write(f"HostKey {tmp_path}/rsa\n")
    known = f"127.0.0.1 {(tmp_path / 'rsa.pub').read_text()}"
    assert (await site_at(server, fetcher, host_key=known).check()).ok
    assert (await site_at(server, fetcher, host_key=known + server.host_key).check()).ok


@pytest.mark.parametrize(
    "options", [("-t", "rsa", "-b", "2048"), ("-t", "ecdsa"), ("-t", "rsa", "-b", "2048", "-m", "PEM")], ids="-".join
)
async def test_other_key_types_are_accepted(
    server: SshGitServer, fetcher: GuardedFetcher, tmp_path: Path, options: tuple[str, ...]
) -> None:
    key = new_key(tmp_path / "key", *options)
    server.allow((tmp_path / "key.pub").read_text(), "write")
    remote = await site_at(server, fetcher, private_key=key).create(a_post())
    assert remote.id in server.git("ls-tree", "-r", "--name-only", "main")


async def test_a_key_unknown_to_the_host_is_reported(
    server: SshGitServer, fetcher: GuardedFetcher, tmp_path: Path
) -> None:
    key = new_key(tmp_path / "other")
    [fingerprint] = HostKeys.parse((tmp_path / "other.pub").read_text()).fingerprints
    problem = await problem_of(site_at(server, fetcher, private_key=key))
    assert f"does not accept the private key {fingerprint} for the user {getpass.getuser()}" in problem.message
    assert "deploy key" in problem.fix


async def test_a_key_that_may_only_read_is_reported_when_the_website_is_connected(
    server: SshGitServer, fetcher: GuardedFetcher
) -> None:
    site = site_at(server, fetcher, private_key=server.reading_key)
    assert "marked as read only" in (await problem_of(site)).message
    assert (await site.read("content/posts/tea.md")).fields["title"] == "Tea"
    with pytest.raises(SiteRejected, match="marked as read only"):
        await site.create(a_post())


async def test_a_missing_repository_is_reported(server: SshGitServer, fetcher: GuardedFetcher) -> None:
    problem = await problem_of(site_at(server, fetcher, repository=server.url.replace("blog", "other")))
    assert "ERROR: Repository not found." in problem.message


async def test_the_output_of_a_hook_is_shown(server: SshGitServer, fetcher: GuardedFetcher) -> None:
    hook = server.bare / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nprintf 'Not allowed: main is \\033[1mprotected\\033[0m.\\n' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(SiteRefused) as caught:
        await site_at(server, fetcher).create(a_post())
    assert "pre-receive hook declined" in caught.value.message
    assert "Not allowed: main is" in caught.value.message
    assert caught.value.message.isprintable()


async def test_a_slow_post_receive_hook_is_not_waited_for_beyond_the_timeout(
    server: SshGitServer, fetcher: GuardedFetcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = site_at(server, fetcher)
    tea = await site.read("content/posts/tea.md")
    hook = server.bare / "hooks/post-receive"
    hook.write_text(f"#!/bin/sh\nexec cat {tmp_path}/never\n")
    hook.chmod(0o755)
    os.mkfifo(tmp_path / "never")
    monkeypatch.setattr("pressroom_git.ssh._SECONDS", 3)
    try:
        live = await site.update(tea.id, a_post(title="Ours"), tea.revision)
    finally:
        os.close(os.open(tmp_path / "never", os.O_RDWR))  # unblocks the hook, which then ends
    assert live.fields["title"] == "Ours"
    assert "title: Ours" in server.show("content/posts/tea.md")


@pytest.mark.parametrize("old", [False, True])
async def test_the_second_version_of_the_protocol_is_requested(
    server: SshGitServer, fetcher: GuardedFetcher, old: bool
) -> None:
    server.old_protocol = old
    await site_at(server, fetcher).read("content/posts/tea.md")
    assert set(server.protocols) == {"" if old else "version=2"}


async def test_a_path_with_unusual_characters_is_quoted_like_git_does(
    server: SshGitServer, fetcher: GuardedFetcher
) -> None:
    name = "it's $(touch me)! of \u00e9"
    server.bare.rename(server.folder / name)
    url = server.url.replace("group/blog.git", name.replace(" ", "%20").replace("'", "%27"))
    post = await site_at(server, fetcher, repository=url).read("content/posts/tea.md")
    assert post.fields["title"] == "Tea"


async def test_connections_end_with_their_command(
    server: SshGitServer, fetcher: GuardedFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_at(server, fetcher)
    await site.read("content/posts/tea.md")
    tasks = asyncio.all_tasks()
    await site.create(a_post())
    await problem_of(site_at(server, fetcher, host_key=""))
    await problem_of(site_at(server, fetcher, repository=server.url.replace("blog", "other")))
    monkeypatch.setattr("pressroom_git.ssh._SECONDS", 0.001)
    with pytest.raises(SiteUnavailable):
        await site.read("content/posts/tea.md")
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == tasks
    assert connections_to(server.port) == []


async def test_private_networks_must_be_allowed_by_the_operator(server: SshGitServer) -> None:
    async with GuardedFetcher() as strict:
        with pytest.raises(SiteRefused, match="only 22 and 443 are"):
            await site_at(server, strict).check()
    async with GuardedFetcher(resolver=StubNames(["127.0.0.1"])) as strict:
        with pytest.raises(SiteRefused, match="not on the public internet"):
            await site_at(server, strict, repository="git@git.example.org:group/blog.git").check()
    assert not server.log.exists()


async def test_the_systems_ssh_configuration_is_not_used(
    server: SshGitServer, fetcher: GuardedFetcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ssh_folder = tmp_path / "home/.ssh"
    ssh_folder.mkdir(parents=True)
    (ssh_folder / "id_ed25519").write_text(server.private_key)
    (ssh_folder / "known_hosts").write_text(server.host_key)
    (ssh_folder / "config").write_text("Host *\n  Port 1\n  User nobody\n  UserKnownHostsFile /dev/null\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    assert "has not been confirmed" in (await problem_of(site_at(server, fetcher, host_key=""))).message
    other = new_key(tmp_path / "other")
    assert "does not accept" in (await problem_of(site_at(server, fetcher, private_key=other))).message
    assert (await site_at(server, fetcher).check()).ok


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("git@git.example.org:group/blog.git", ("git", "git.example.org", 22, "group/blog.git")),
        ("git@git.example.org:/srv/blog.git", ("git", "git.example.org", 22, "/srv/blog.git")),
        ("ada@git.example.org:~/blog.git", ("ada", "git.example.org", 22, "~/blog.git")),
        ("ssh://git@ssh.github.com:443/ada/blog.git", ("git", "ssh.github.com", 443, "/ada/blog.git")),
        ("ssh://Git.Example.org/blog", ("git", "git.example.org", 22, "/blog")),
        ("ssh://ada@git.example.org/~ada/my%20blog", ("ada", "git.example.org", 22, "~ada/my blog")),
        ("ssh://git@[2001:db8::1]:2222/blog", ("git", "2001:db8::1", 2222, "/blog")),
    ],
)
def test_both_url_formats_are_parsed(text: str, parts: tuple[str, str, int, str]) -> None:
    url = SshUrl.parse(text)
    assert (url.user, url.host, url.port, url.path) == parts


@pytest.mark.parametrize(
    "text",
    [
        "ssh://git@git.example.org:99999/blog",
        "ssh://git:secret@git.example.org/blog",
        "ssh://-oProxyCommand=x/blog",
        "git@git.example.org:-upload-pack=x",
        "git@git.example.org:",
        "ssh://git@git.example.org/a%0Ab",
        "ssh://git@git.example.org",
    ],
)
def test_invalid_repository_urls_are_refused(text: str) -> None:
    with pytest.raises(SiteRefused):
        SshUrl.parse(text)


ENCRYPTED = """-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,00000000000000000000000000000000

AAAA
-----END RSA PRIVATE KEY-----"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "needs a private key"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== ada", "is a public key"),
        ("PuTTY-User-Key-File-3: ssh-ed25519", "PuTTY"),
        ("my secret", "cannot be read"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----", "cannot be read"),
        ("-----BEGIN PRIVATE KEY-----\n" + "A" * 9_000, "more than 8000 characters"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA", "passphrase"),
        (ENCRYPTED, "passphrase"),
    ],
)
def test_an_invalid_private_key_is_reported(text: str, expected: str) -> None:
    with pytest.raises(SiteRejected, match=expected) as caught:
        check_private_key(plain_key(text))
    assert caught.value.hint
    assert not text or text not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-t", "ed25519", "-N", "secret"), "passphrase"),
        (("-t", "rsa", "-b", "1024"), "RSA with 1024 bits"),
    ],
    ids=["encrypted", "short"],
)
def test_unsupported_keys_are_refused(tmp_path: Path, options: tuple[str, ...], expected: str) -> None:
    key = new_key(tmp_path / "key", *options)
    with pytest.raises(SiteRejected, match=expected) as caught:
        check_private_key(plain_key(key))
    assert "ssh-keygen -t ed25519" in str(caught.value.hint)


def test_a_key_that_is_too_long_is_refused() -> None:
    # Two Mersenne primes, since ssh-keygen takes seconds to find others of this size.
    p, q, e = 2**2203 - 1, 2**2281 - 1, 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(e, p * q)
    numbers = rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public
    )
    private_key = numbers.private_key(unsafe_skip_rsa_key_validation=True)  # `check_private_key` does it
    key = private_key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    with pytest.raises(SiteRejected, match="RSA with 4484 bits") as caught:
        check_private_key(plain_key(key))
    assert "ssh-keygen -t ed25519" in str(caught.value.hint)


@pytest.mark.parametrize(
    "text", ["SHA256:short", "ssh-ed25519 AAAA", "ssh-rsa ?", "MD5:00", "@cert-authority * ssh-rsa AAAA"]
)
def test_an_invalid_host_key_is_reported(text: str) -> None:
    with pytest.raises(SiteRejected, match="line that cannot be read"):
        HostKeys.parse(text)


def test_too_many_host_keys_are_refused() -> None:
    keys = [f"SHA256:{at:043}" for at in range(41)]
    assert len(HostKeys.parse("# a comment\n" + "\n".join(keys[:40])).fingerprints) == 40
    with pytest.raises(SiteRejected, match="41 lines; at most 40 are allowed"):
        HostKeys.parse("\n".join(keys))
