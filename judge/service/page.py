"""The built page: its files, read once, and how they are sent.

Theory of operation
-------------------
All files are read when the service starts. An address is looked up among them and nothing is ever
opened for a request, so no address can lead anywhere else, and a page that is built anew meanwhile
is not served half old and half new. Files in `assets/` have a hash of their content in their name
and may be kept for ever; a browser asks for all others each time, by their ETag.

The build leaves `.br` and `.gz` beside each file that shrinks; the best one that the client takes
is sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from starlette.datastructures import Headers
from starlette.responses import Response

PACKAGED = Path(__file__).with_name("page")
IN_CHECKOUT = Path(__file__).parents[2] / "web" / "dist"
INDEX = "index.html"
ASSETS = "assets/"
# Also of scripts: a worker's policy is the one that its own script came with.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FOR_EVER = "public, max-age=31536000, immutable"
ASK_EACH_TIME = "no-cache"
ENCODINGS = {".br": "br", ".gz": "gzip"}  # the best first
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
_CODING = re.compile(r"\s*([a-z0-9*-]+)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?", re.IGNORECASE)


@dataclass(frozen=True)
class PageFile:
    """One file. `bodies` has it by encoding, the best first, and plain as "" at last."""

    media_type: str
    cache_control: str
    etag: str
    bodies: Mapping[str, bytes] = field(repr=False)

    def response(self, asked: Headers, status: int = 200) -> Response:
        """The file as whoever asked takes it; without a body when they have it already."""
        encoding = next(each for each in self.bodies if _takes(asked, each))
        etag = f'"{self.etag}{encoding and "-"}{encoding}"'
        headers = {
            "Cache-Control": self.cache_control,
            "Content-Security-Policy": POLICY,
            "ETag": etag,
        }
        if len(self.bodies) > 1:
            headers["Vary"] = "Accept-Encoding"
        if status == 200 and _has(asked, etag):
            return Response(status_code=304, headers=headers)
        if encoding:
            headers["Content-Encoding"] = encoding
        # The type goes in as a header: as an argument it would be given a charset of its own.
        headers["Content-Type"] = self.media_type
        return Response(self.bodies[encoding], status, headers)


@dataclass(frozen=True)
class Page:
    """The files of a built page by their path; none where it was not built."""

    files: Mapping[str, PageFile] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Page:
        """The page in `folder`; an empty one when there is none."""
        contents = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
        return cls(
            {
                name: _page_file(name, contents)
                for name in contents
                if not _is_encoded(name, contents)
            }
        )


def page_folder() -> Path:
    """Where the page is: inside the installed package, else where the checkout builds it."""
    return PACKAGED if PACKAGED.is_dir() else IN_CHECKOUT


def _page_file(name: str, contents: Mapping[str, bytes]) -> PageFile:
    encoded = {
        encoding: contents[name + suffix]
        for suffix, encoding in ENCODINGS.items()
        if name + suffix in contents
    }
    return PageFile(
        media_type=TYPES.get(PurePosixPath(name).suffix, "application/octet-stream"),
        cache_control=FOR_EVER if name.startswith(ASSETS) else ASK_EACH_TIME,
        etag=hashlib.sha256(contents[name]).hexdigest()[:32],
        bodies=encoded | {"": contents[name]},
    )


def _is_encoded(name: str, contents: Mapping[str, bytes]) -> bool:
    """Whether it is another file, compressed."""
    plain, suffix = str(PurePosixPath(name).with_suffix("")), PurePosixPath(name).suffix
    return suffix in ENCODINGS and plain in contents


def _takes(asked: Headers, encoding: str) -> bool:
    """Whether the client takes an encoding. What is not encoded always goes."""
    if not encoding:
        return True
    weights = dict(_weights(", ".join(asked.getlist("accept-encoding"))))
    return weights.get(encoding, weights.get("*", 0.0)) > 0


def _weights(accepted: str) -> Iterator[tuple[str, float]]:
    for part in accepted.split(","):
        if match := _CODING.fullmatch(part):
            yield match[1].lower(), float(match[2] or 1)


def _has(asked: Headers, etag: str) -> bool:
    """Whether the client says that it has this version; weakly, as for If-None-Match."""
    known = [each.strip() for each in ", ".join(asked.getlist("if-none-match")).split(",")]
    return "*" in known or any(each.removeprefix("W/") == etag for each in known)
