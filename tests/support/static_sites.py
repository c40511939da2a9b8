"""Sites built by real Hugo, Jekyll and Astro, each with its default settings for Markdown."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit

from pressroom_git.front_matter import Generator

from support.downloads import npm_package
from support.needs import program
from support.node import node_environment

ASTRO: Final = "6.0.5"

_SECONDS: Final = 300
_HUGO: Final = """<html><title>{{ .Title }}</title><body><main><h1>{{ .Title }}</h1>{{ .Content }}</main></body></html>
"""
_JEKYLL: Final = """<html><title>{{ page.title }}</title>
<body><main><h1>{{ page.title }}</h1>{{ content }}</main></body></html>
"""
# Astro caches a site's posts, by default next to the packages, which several sites share here.
_ASTRO_CONFIG: Final = """export default { cacheDir: './.cache', vite: { cacheDir: './.cache/vite' } };
"""
_ASTRO_COLLECTIONS: Final = """import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
const loader = glob({ pattern: '**/*.md', base: './src/content/blog' });
export const collections = { blog: defineCollection({ loader }) };
"""
_ASTRO_PAGE: Final = """---
import { getCollection, render } from 'astro:content';
export async function getStaticPaths() {
  const posts = await getCollection('blog');
  return posts.map((post) => ({ params: { slug: post.id }, props: { post } }));
}
const { post } = Astro.props;
const { Content } = await render(post);
---
<html><title>{post.data.title}</title><body><main><h1>{post.data.title}</h1><Content /></main></body></html>
"""

SOURCES: Final[Mapping[Generator, Mapping[str, str]]] = MappingProxyType(
    {
        "hugo": {
            # Hugo reads the first name since 0.110, and the second one before that.
            "hugo.toml": 'title = "Test"\n',
            "config.toml": 'title = "Test"\n',
            "layouts/_default/single.html": _HUGO,
        },
        "jekyll": {"_config.yml": "title: Test\n", "_layouts/post.html": _JEKYLL},
        "astro": {
            "package.json": '{"type": "module"}\n',
            "astro.config.mjs": _ASTRO_CONFIG,
            "src/content.config.mjs": _ASTRO_COLLECTIONS,
            "src/pages/blog/[...slug].astro": _ASTRO_PAGE,
        },
    }
)
"""The minimal files of a site besides its posts."""


def built(generator: Generator, folder: Path, output: Path, url: str) -> Path:
    """Build the site in `folder` and return `output`, the folder of its pages.

    Raises:
        AssertionError: the generator fails. The message is its output.
    """
    environment: Mapping[str, str] = os.environ
    if generator == "hugo":
        command = [program("hugo"), "-s", str(folder), "-d", str(output), "-b", url]
    elif generator == "jekyll":
        command = [program("jekyll"), "build", "-s", str(folder), "-d", str(output), "--disable-disk-cache"]
    else:
        package = npm_package("astro", ASTRO)
        environment = node_environment() | {"ASTRO_TELEMETRY_DISABLED": "1"}
        folder = _beside_packages(folder, output, package.parent)
        command = [str(package.parent / ".bin" / "astro"), "build", "--outDir", str(output), "--site", url]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return output


def _beside_packages(folder: Path, output: Path, packages: Path) -> Path:
    """Return a copy of a site with a link to its packages, which is not in the repository."""
    copy = output.with_name(f"{output.name}-source")
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git"))
    (copy / "node_modules").symlink_to(packages)
    return copy


def page_of(output: Path, url: str) -> bytes:
    """Return the page that a web server would send for a URL of a built site."""
    path = output / unquote(urlsplit(url).path).lstrip("/")
    return (path / "index.html" if path.is_dir() else path).read_bytes()
