from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judge.service.statement import render, render_inline

PROBLEMS = Path(__file__).parents[2] / "problems"
STATEMENT = PROBLEMS / "multi-head-attention" / "statement.md"


class Attributes(HTMLParser):
    """Collects every tag and attribute that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def seen(html: str) -> Attributes:
    parser = Attributes()
    parser.feed(html)
    return parser


def test_script_in_a_statement_is_text() -> None:
    html = render(
        "# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n"
        "| <svg onload=x> |\n|-|\n| `</code><script>` |\n\n$</span><script>x$\n\n"
        "$$\n</div><script>y</script>\n$$\n\n```python\n'</pre><script>'\n```\n\n"
        '```py"onload="x\nz\n```\n\n<!-- <script> -->\n'
    )
    found = seen(html)
    assert found.tags <= {"h1", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "span",
                          "div", "pre"}  # fmt: skip
    assert found.attributes <= {"id", "class"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_links_lead_to_the_web_or_to_a_heading_and_nowhere_else() -> None:
    html = render(
        "[a](https://example.org) [b](javascript:alert(1)) [c](data:text/html,x) "
        "[d](/api/problems) [e](//example.org) [f](#notes)\n\n# Notes\n"
    )
    assert re.findall(r'href="([^"]*)"', html) == ["https://example.org", "#statement-notes"]
    assert html.count('rel="noopener noreferrer"') == html.count("<a ")


def test_no_picture_is_fetched() -> None:
    assert "img" not in seen(render("![x](https://example.org/x.png)")).tags


def test_headings_have_ids_of_their_own() -> None:
    html = render("# A b\n\n## A b\n\n## A b 2\n\n## Ω\n")
    assert re.findall(r'id="([^"]*)"', html) == [
        "statement-a-b", "statement-a-b-2", "statement-a-b-2-2", "statement-section",
    ]  # fmt: skip


def test_formulas_stay_tex_for_the_page_to_typeset() -> None:
    html = render("Where $a_i < b$ and\n\n$$\n\\frac{1}{2}\n$$\n")
    assert '<span class="math inline">a_i &lt; b</span>' in html
    assert re.search(r'<div class="math block">\s*\\frac\{1\}\{2\}\s*</div>', html)


def test_a_title_keeps_formulas_and_code_and_nothing_that_a_button_cannot_hold() -> None:
    html = render_inline("Why `x` is $\\sqrt{d}$ in [this](https://a.example) ![p](q) <script>")
    assert '<code>x</code> is <span class="math inline">\\sqrt{d}</span> in this' in html
    assert seen(html).tags == {"code", "span"}


def test_money_is_not_a_formula() -> None:
    assert "math" not in render("It costs $5 and $6.")
    assert "math" not in render("$5 and $6 is what it costs.")


@pytest.mark.parametrize("end", ["float64", "see \\", "$1$"])
def test_a_formula_begins_a_text_whatever_its_last_character_is(end: str) -> None:
    assert '<p><span class="math inline">(n, d)</span>, ' in render(f"$(n, d)$, {end}")
    cell = render(f"| a |\n|---|\n| $(n, d)$, {end} |\n")
    assert '<td><span class="math inline">(n, d)</span>, ' in cell


def test_code_is_coloured_by_classes_and_nothing_by_inline_styles() -> None:
    html = render("```python\nx = 1\n```\n\n|a|b|\n|:-:|--:|\n|1|2|\n")
    assert '<span class="n">x</span>' in html
    assert '<th class="center">' in html
    assert "style" not in seen(html).attributes


def test_code_of_an_unknown_language_is_shown_plain() -> None:
    assert "<code>x = 1\n</code>" in render("```brainfog\nx = 1\n```\n")


def test_a_real_statement_has_its_headings_tables_and_formulas() -> None:
    html = render(STATEMENT.read_text(encoding="utf-8"))
    assert "<h2" in html
    assert "<table>" in html
    assert "$" not in html


def test_an_interpreter_session_is_coloured_by_what_was_typed_and_what_was_said() -> None:
    session = ">>> for x in a:\n...     print(x)\n<b>1</b>\n>>> 1 / 0\n"
    session += "Traceback (most recent call last):\n"
    html = render(f"```pycon\n{session}ZeroDivisionError: division by zero\n```\n")
    assert html.count('<span class="gp">') == 3
    assert '<span class="k">for</span>' in html
    assert '<span class="go">&lt;b&gt;1&lt;/b&gt;</span>' in html
    assert '<span class="gr">ZeroDivisionError</span>' in html
    assert ">>> 1 / 0" in unescape(re.sub("<[^>]*>", "", html))


def test_a_table_may_hold_formulas_code_and_bars() -> None:
    html = render(
        "| symbol | is |\n|:-:|---|\n| $d_h = D/H$ | `a \\| b` |\n| $\\lvert x \\rvert$ | *x* |\n"
    )
    assert '<td class="center"><span class="math inline">d_h = D/H</span></td>' in html
    assert "<code>a | b</code>" in html
    assert html.count("<tr>") == 3


@pytest.mark.parametrize("name", ["statement.md", "editorial.md"])
def test_no_dollar_is_left_where_a_formula_was_meant(name: str) -> None:
    for path in sorted(PROBLEMS.glob(f"*/{name}")):
        html = render(path.read_text(encoding="utf-8"))
        prose = re.sub(
            r'<(span|div) class="math[^>]*>.*?</\1>|<pre.*?</pre>|<code>.*?</code>',
            "",
            html,
            flags=re.DOTALL,
        )
        assert "$" not in prose, path
