"""Snapshots of the newest commit of a branch on a git server, and pack files (git-scm.com/docs/pack-format)."""

from __future__ import annotations

import hashlib
import stat
import struct
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final, cast

from dulwich.errors import ObjectFormatException
from dulwich.object_store import MemoryObjectStore, commit_tree_changes, tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from pressroom_content.contract import SiteRefused, SiteUnavailable

from pressroom_git.repository import MAX_FILE_BYTES, NEW_FILE, Authorship, File

_MAX_FILES: Final = 100_000
_MAX_PATH: Final = 1_000
"""Maximum length of a path in characters: with nested trees, the total length of paths grows quadratically."""

_MAX_PATHS: Final = 16_000_000
"""Maximum total length of all paths of a folder, in characters."""

_MAX_TREES: Final = 8_000_000
"""Maximum total size of a commit's trees in bytes, not counting their object names."""

_MAX_CONTENTS: Final = 64_000_000
"""Maximum total size of the files in one request, in bytes."""

_TREE: Final = Tree.type_num
_BROKEN: Final = (ObjectFormatException, KeyError, ValueError, AttributeError, AssertionError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The raw trees of a commit by object name. `root` is empty for a branch without commits.

    All methods raise `SiteUnavailable` for invalid trees, and `SiteRefused`.
    """

    root: str = ""
    trees: Mapping[str, bytes] = field(default_factory=dict)

    def blob(self, path: str) -> str:
        """Return the blob of a file; empty if missing. Raises `SiteRefused` for links and folders."""
        mode, sha = self._look_up(path)
        if sha and not stat.S_ISREG(mode):
            raise SiteRefused(f"{path} is not a file in the repository")
        return sha

    def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder."""
        mode, sha = self._look_up(folder)
        if not sha or not stat.S_ISDIR(mode):
            return {}
        blobs: dict[str, str] = {}
        waiting = [(folder, sha)]
        trees = length = 0
        while waiting:
            path, sha = waiting.pop()
            trees += 1
            for entry in self._entries(sha):
                name = f"{path}/{entry.path.decode(errors='replace')}"
                if stat.S_ISDIR(entry.mode):
                    waiting.append((name, entry.sha.decode()))
                elif stat.S_ISREG(entry.mode):
                    blobs[name] = entry.sha.decode()
                length += len(name)
                if len(name) > _MAX_PATH:
                    raise SiteRefused(f"{folder} has paths of more than {_MAX_PATH} characters")
                if len(blobs) > _MAX_FILES or trees + len(waiting) > _MAX_FILES or length > _MAX_PATHS:
                    raise SiteRefused(f"{folder} has more than {_MAX_FILES} files or folders, or very long names")
        return blobs

    def with_change(
        self, head: str, path: str, content: bytes | None, message: str, authorship: Authorship
    ) -> tuple[str, bytes]:
        """Create a commit on top of `head` that writes or deletes one file. Returns its name and the pack to push."""
        for folder in reversed(PurePosixPath(path).parents[:-1]):
            mode, sha = self._look_up(str(folder))
            if sha and not stat.S_ISDIR(mode):
                raise SiteRefused(f"a part of {path} is a file in the repository, not a folder")
        try:
            objects = self._with_change(head, path, content, authorship.message(message), authorship.author.encode())
        except _BROKEN:
            raise _broken() from None
        return objects[-1].id.decode(), write_pack(objects)

    def _with_change(
        self, head: str, path: str, content: bytes | None, message: bytes, author: bytes
    ) -> Sequence[ShaFile]:
        """Return the new objects, the commit last."""
        store = MemoryObjectStore()
        for name, tree in self.trees.items():
            store.add_object(ShaFile.from_raw_string(_TREE, tree, ObjectID(name.encode())))
        before = set(store)
        blob = Blob.from_string(content) if content is not None else None
        if blob is not None:
            store.add_object(blob)
        mode, current_sha = self._look_up(path)
        change = (path.encode(), (mode if current_sha else NEW_FILE) if blob else None, blob.id if blob else None)
        commit = Commit()
        commit.tree = commit_tree_changes(store, ObjectID(self.root.encode()) if self.root else Tree(), [change])
        commit.parents = [ObjectID(head.encode())] if head else []
        commit.author = commit.committer = author
        commit.author_time = commit.commit_time = int(time.time())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = message
        return [*(store[sha] for sha in store if sha not in before), commit]

    def _look_up(self, path: str) -> tuple[int, str]:
        """Return mode and object name of the entry at a path; an empty name if it is missing."""
        if not self.root:
            return 0, ""
        try:
            mode, sha = tree_lookup_path(self._object, ObjectID(self.root.encode()), path.encode())
        except (KeyError, NotADirectoryError):
            return 0, ""
        except _BROKEN:
            raise _broken() from None
        return mode, sha.decode()

    def _object(self, sha: Any) -> ShaFile:
        return ShaFile.from_raw_string(_TREE, self.trees[sha.decode()], sha)

    def _entries(self, sha: str) -> Sequence[Any]:
        try:
            return cast("Tree", self._object(sha.encode())).items()
        except _BROKEN:
            raise _broken() from None


def snapshot_of(objects: Objects, head: str) -> Snapshot:
    """Return the snapshot of a commit.

    Raises:
        SiteUnavailable: the commit or its root tree is missing, or the commit is invalid.
        SiteRefused: the trees are too large.
    """
    try:
        kind, content = objects[head]
        commit: Any = ShaFile.from_raw_string(kind, content)
        root = commit.tree.decode()
    except _BROKEN:
        raise _broken() from None
    trees = {name: content for name, (kind, content) in objects.items() if kind == _TREE}
    if sum(map(len, trees.values())) > _MAX_TREES:
        raise SiteRefused("the repository has too many files: its folders alone take more than 8 MB")
    if root not in trees:
        raise _broken()
    return Snapshot(root, trees)


def files_of(objects: Objects, shas: Sequence[str]) -> Mapping[str, File]:
    """Return files by blob. If several are requested, those that are too large are omitted.

    Raises:
        SiteUnavailable: a file is missing from the objects.
        SiteRefused: a single requested file, or all files together, are too large.
    """
    files: dict[str, File] = {}
    for sha in shas:
        if sha not in objects:
            raise _broken()
        content = objects[sha][1]
        if len(content) <= MAX_FILE_BYTES:
            files[sha] = File(content, sha)
        elif len(shas) == 1:
            raise SiteRefused(f"the file is larger than {MAX_FILE_BYTES} bytes")
    if sum(len(file.content) for file in files.values()) > _MAX_CONTENTS:
        raise SiteRefused(f"{len(files)} files are larger than {_MAX_CONTENTS} bytes in total")
    return files


def _broken() -> SiteUnavailable:
    return SiteUnavailable("the server sent a repository that cannot be read")


_MAX_OBJECTS: Final = 200_000
_MAX_INFLATED: Final = 128_000_000
_MAX_BITS: Final = 63
_CHUNK: Final = 16_384
_NAMES: Final[Mapping[int, bytes]] = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_OFFSET_DELTA, _REF_DELTA = 6, 7

Objects = dict[str, tuple[int, bytes]]
"""Objects as type number and content, by object name."""


def read_pack(data: bytes | bytearray) -> Objects:
    """Parse a pack. Raises `SiteUnavailable` if it is invalid, too large or incomplete."""
    try:
        return _read(data)
    except (struct.error, zlib.error, IndexError, KeyError, ValueError, RecursionError) as error:
        raise SiteUnavailable(f"the repository sent a pack that cannot be read ({type(error).__name__})") from None


def write_pack(objects: Iterable[ShaFile]) -> bytes:
    """Create a pack of objects."""
    all_objects = list(objects)
    parts = [b"PACK", struct.pack(">II", 2, len(all_objects))]
    for git_object in all_objects:
        content = git_object.as_raw_string()
        size, head = len(content) >> 4, bytearray([(git_object.type_num << 4) | (len(content) & 15)])
        while size:
            head[-1] |= 0x80
            head.append(size & 0x7F)
            size >>= 7
        parts += [bytes(head), zlib.compress(content)]
    pack = b"".join(parts)
    return pack + hashlib.sha1(pack, usedforsecurity=False).digest()


def _read(data: bytes | bytearray) -> Objects:
    if data[:4] != b"PACK" or hashlib.sha1(data[:-20], usedforsecurity=False).digest() != data[-20:]:
        raise ValueError("not a whole pack")
    version, count = struct.unpack(">II", data[4:12])
    if version not in (2, 3) or count > _MAX_OBJECTS:
        raise ValueError("a pack of another kind")
    objects: Objects = {}
    names_by_offset: dict[int, str] = {}
    at, remaining = 12, _MAX_INFLATED
    for _ in range(count):
        start = at
        kind, size, at = _head(data, at)
        base = ""
        if kind == _OFFSET_DELTA:
            offset, at = _offset(data, at)
            base = names_by_offset[start - offset]
        elif kind == _REF_DELTA:
            base, at = data[at : at + 20].hex(), at + 20
        remaining -= size
        if remaining < 0:
            raise ValueError("more than it may be")
        content, at = _inflated(data, at, size)
        if base:
            kind, base_content = objects[base]
            content = _applied(content, base_content, remaining)
            remaining -= len(content)
        name = hashlib.sha1(b"%s %d\0" % (_NAMES[kind], len(content)) + content, usedforsecurity=False).hexdigest()
        objects[name] = (kind, content)
        names_by_offset[start] = name
    return objects


def _head(data: bytes | bytearray, at: int) -> tuple[int, int, int]:
    byte = data[at]
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 0x80:
        at += 1
        byte = data[at]
        size |= (byte & 0x7F) << shift
        shift = _more(shift)
    return kind, size, at + 1


def _offset(data: bytes | bytearray, at: int) -> tuple[int, int]:
    byte = data[at]
    value, shift = byte & 0x7F, 0
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
        shift = _more(shift)
    return value, at + 1


def _more(shift: int) -> int:
    """Return the next shift of a variable-length integer. Raises `ValueError` beyond 63 bits, to bound the time."""
    if shift > _MAX_BITS:
        raise ValueError("a number that is too long")
    return shift + 7


def _inflated(data: bytes | bytearray, at: int, size: int) -> tuple[bytes, int]:
    inflating, parts, length = zlib.decompressobj(), [], 0
    while not inflating.eof:
        chunk = data[at : at + _CHUNK]
        part = inflating.decompress(chunk, size - length + 1)
        parts.append(part)
        length += len(part)
        at += len(chunk) - len(inflating.unused_data) - len(inflating.unconsumed_tail)
        if length > size or not chunk:
            raise ValueError("another size than it says")
    if length != size:
        raise ValueError("another size than it says")
    return b"".join(parts), at


def _applied(delta: bytes, base: bytes, max_bytes: int) -> bytes:
    """Apply a delta to its base. Raises `ValueError` if it is invalid or the result exceeds `max_bytes` bytes."""
    source, at = _size(delta, 0)
    size, at = _size(delta, at)
    if source != len(base) or size > max_bytes:
        raise ValueError("a delta of something else")
    result = bytearray()  # a list of tiny parts would take many times their size
    while at < len(delta):
        command = delta[at]
        at += 1
        if command & 0x80:
            values = [0, 0]
            for bit in range(7):
                if command & (1 << bit):
                    values[bit > 3] |= delta[at] << (8 * (bit if bit < 4 else bit - 4))
                    at += 1
            start, count = values[0], values[1] or 0x10000
            part = base[start : start + count]
        else:
            count, part = command, delta[at : at + command]
            at += command
        result += part
        if not command or len(part) != count or len(result) > size:
            raise ValueError("a delta that leads nowhere")
    if len(result) != size:
        raise ValueError("a delta of another size")
    return bytes(result)


def _size(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = delta[at]
        value |= (byte & 0x7F) << shift
        shift = _more(shift)
        at += 1
        if not byte & 0x80:
            return value, at
