"""The page at /: what there is and how to use it, without a script or a foreign address."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse

from judge.problem import Problem
from judge.service.bank import Track
from judge.service.identity import hand_out_cookie
from judge.service.parts import Student, TheParts

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e26; --paper: #fdfdfc; --line: #d9dade;
        --quiet: #5b5e6b; --accent: #4338ca; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e7ec; --paper: #16171d; --line: #34363f; --quiet: #a2a5b3; --accent: #a5b4fc; }
}
body { margin: 0 auto; max-width: 44rem; padding: 48px 16px; background: var(--paper);
       color: var(--ink); font: 15px/24px system-ui, sans-serif; }
h1 { font-size: 24px; line-height: 32px; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 36px 0 4px; }
p { margin: 0 0 12px; }
.quiet { color: var(--quiet); }
ul { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid var(--line); padding: 12px 0; }
a { color: var(--accent); }
pre { border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; padding: 12px;
      font-size: 13px; line-height: 20px; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
}

router = APIRouter(include_in_schema=False)


@router.get("/")
async def get_landing_page(parts: TheParts, student: Student, request: Request) -> Response:
    """The exercises, and the lines that submit to one."""
    address = f"{request.url.scheme}://{request.url.netloc}"
    response = HTMLResponse(page(parts.bank.tracks(), parts.bank.all(), address), headers=HEADERS)
    hand_out_cookie(request, response, student)
    return response


def page(tracks: Sequence[Track], problems: Sequence[Problem], address: str) -> str:
    """The whole page."""
    slug = problems[0].slug if problems else "SLUG"
    file = problems[0].main_file if problems else "solution.py"
    body = f'{{"problem": "{slug}", "kind": "submit", "files": {{"{file}": "..."}}}}'
    lines = "\n".join(
        [
            f"judge submit {slug} {file} --server {address}",
            "",
            f"curl -i {address}/api/submissions \\",
            f"     -H 'Content-Type: application/json' -d '{body}'",
            f"curl -N {address}/api/submissions/ID/events",
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>judge</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>judge</h1>
<p class="quiet">Exercises in machine learning, judged tier by tier.</p>
{"".join(_track(track, problems) for track in tracks) or "<p>There are no exercises here.</p>"}
<h2>Submit</h2>
<p>Either line sends a solution; the last one shows what becomes of it.</p>
<pre><code>{escape(lines)}</code></pre>
<p class="quiet"><a href="/openapi.json">All addresses</a> · <a href="/readyz">Is it ready?</a></p>
</main>
</body>
</html>
"""


def _track(track: Track, problems: Sequence[Problem]) -> str:
    items = "".join(_item(problem) for problem in problems if problem.manifest.track == track.id)
    summary = f'<p class="quiet">{escape(track.summary)}</p>' if track.summary else ""
    return f"<h2>{escape(track.title)}</h2>\n{summary}<ul>\n{items}</ul>\n" if items else ""


def _item(problem: Problem) -> str:
    title, summary = escape(problem.manifest.title), escape(problem.manifest.summary)
    tiers = ", ".join(f"{tier.id} {escape(tier.title)}" for tier in problem.tiers)
    return (
        f'<li><a href="/api/problems/{problem.slug}">{title}</a><br>{summary}'
        f'<br><span class="quiet">{tiers}</span></li>\n'
    )
