"""A proof as one page of HTML: for a browser, from a file, without a network or a script."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path

from judge.charts import ChartsUnavailable, UndrawableChart, draw_on_paper, file_stem
from judge.proof.outcomes import Case, CaseKind, MadeMutant, Proof
from judge.proof.reports.figures import (
    Counts,
    Kills,
    check_name,
    findings_of,
    kill_rate,
    killers,
    kind_title,
    milliseconds,
    name,
    named_mutants,
    seconds,
    share,
    state,
)
from judge.proof.reports.markup import (
    bar,
    cell,
    code,
    diff,
    document,
    finding,
    fold,
    mark,
    region,
    row_head,
    section,
    stack,
    table,
    text,
    track,
)
from judge.results import Chart

INDEX = "index.html"
HELD = mark("✓", "holds", "pass")
FAILED = mark("✗", "fails", "fail")
SKIPPED = mark("–", "not tried", "quiet")  # noqa: RUF001 - a dash: not tried
ADVICE = mark("!", "holds, with advice", "limit")
MAX_NUMBERS = 200  # rows of a chart's table


def page(proof: Proof) -> str:
    """All of one proof, as a page that needs nothing else."""
    parts = [*_head(proof), *_findings(proof), _cases(proof)]
    if proof.matrix.rows:
        parts.append(_matrix(proof))
    if proof.made:
        parts.append(_made(proof))
    if proof.headroom:
        parts.append(_headroom(proof))
    if proof.times:
        parts.append(_times(proof))
    if proof.charts:
        parts.append(_charts(proof.charts))
    return document(f"Proof of {proof.title}", [*parts, _footer(proof)])


def index(proofs: Sequence[Proof]) -> str:
    """A page that leads to those of several proofs, which lie beside it."""
    proven = sum(proof.proven for proof in proofs)
    rows = (
        [
            row_head(f'<a href="{page_name(proof)}">{text(proof.title)}</a>'
                     f'<span class="below">{text(proof.problem)}</span>'),
            cell(f"{_mark_of(proof)} {state(proof)}", "short"),
            cell(str(Counts.of(proof.cases)), "short"), cell(kill_rate(proof)),
            cell(named_mutants(proof), "short"),
            cell(str(proof.seeds), "number"), cell(seconds(proof.wall_s), "number"),
        ]
        for proof in proofs
    )  # fmt: skip
    head = ["exercise", "state", "cases", "made mutants killed", "named", "seeds ", "time "]
    return document("Proofs of the exercises", [
        '<header><p class="kicker">Proofs</p>',
        f"<h1>{proven} of {len(proofs)} exercises proven</h1>",
        "</header>",
        f"<section>{table('Exercises', head, rows)}</section>",
    ])  # fmt: skip


def write_pages(proofs: Sequence[Proof], folder: Path) -> list[Path]:
    """Write a page for each proof into `folder`, and an index of several; raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {page_name(proof): page(proof) for proof in proofs}
    if len(proofs) > 1:
        pages[INDEX] = index(proofs)
    for file, content in pages.items():
        (folder / file).write_text(content, encoding="utf-8")
    return [folder / file for file in pages]


def page_name(proof: Proof) -> str:
    """The name of a proof's page."""
    return f"{file_stem(proof.problem)}.html"


# --- what comes first -----------------------------------------------------------------------------


def _head(proof: Proof) -> Iterator[str]:
    kind = "pass" if proof.proven else "fail"
    symbol = "✓" if proof.proven else "✗"
    yield (
        f'<header>\n<p class="kicker">Proof of {code(proof.problem)}</p>\n'
        f"<h1>{text(proof.title)}</h1>\n"
        f'<p class="state {kind}"><span aria-hidden="true">{symbol}</span>{state(proof)}</p>'
    )
    facts = "".join(
        f'<div><dt>{what}</dt><dd>{figure}</dd><dd class="aside">{aside}</dd></div>\n'
        for what, figure, aside in _facts(proof)
    )
    yield f'<dl class="facts">\n{facts}</dl>'
    origin = [f"{code(proof.folder)}, version {code(proof.version[:12])}"]
    if proof.sandboxes:
        origin.append(f"judged in {text(' and '.join(proof.sandboxes))}")
    if proof.environment is not None:
        torch, numpy = proof.environment.torch, proof.environment.numpy
        origin.append(f"torch {text(torch)}, numpy {text(numpy)}")
    yield f'<p class="origin">{" · ".join(origin)}</p>\n</header>'


def _facts(proof: Proof) -> Iterator[tuple[str, str, str]]:
    """What a number counts, the number, and what stands small below it; all markup."""
    counts = Counts.of(proof.cases)
    aside = ", ".join(str(counts).split(", ")[1:]) or "all that were tried"
    yield "cases held", str(counts.held), aside
    kills = Kills.of(proof)
    if kills.counted:
        yield "made mutants killed", kills.rate, str(kills)
    yield "named mutants", named_mutants(proof), "as their author says"
    yield "seeds", str(proof.seeds), "of the reference"
    yield "took", seconds(proof.wall_s), ""


def _footer(proof: Proof) -> str:
    return f"<footer>Version {code(proof.version)}</footer>"


def _mark_of(proof: Proof) -> str:
    if not proof.proven:
        return mark("✗", "", "fail")
    return mark("✓", "", "pass")


def _findings(proof: Proof) -> Iterator[str]:
    for advice, title in ((False, "What does not hold"), (True, "Advice")):
        found = [(case, each) for case in proof.cases for each in findings_of(case, advice=advice)]
        if found:
            items = (finding(each, name(case)) for case, each in found)
            yield section(title, "", ['<ul class="findings">\n', *items, "</ul>\n"])


# --- cases ----------------------------------------------------------------------------------------


def _cases(proof: Proof) -> str:
    folds = [
        _kind(kind, [case for case in proof.cases if case.kind is kind])
        for kind in CaseKind
        if any(case.kind is kind for case in proof.cases)
    ]
    about = "Each is one claim about the folder, put to the test."
    return section("Cases", about, ['<div class="kinds">\n', *folds, "</div>\n"])


def _kind(kind: CaseKind, cases: Sequence[Case]) -> str:
    counts = Counts.of(cases)
    symbol = FAILED if counts.failed else HELD if counts.held else SKIPPED
    rows = "\n".join(map(_case, cases))
    title = kind_title(kind)
    return (
        f"<details{' open' if counts.failed else ''}>"
        f'<summary>{symbol}<span class="kind">{title}</span>'
        f'<span class="quiet">{counts}</span></summary>\n'
        f'<table><caption class="visually-hidden">{title}</caption>\n'
        '<thead class="visually-hidden"><tr><th scope="col">state</th><th scope="col">case</th>'
        f'<th scope="col">time</th></tr></thead>\n<tbody>\n{rows}\n</tbody></table></details>\n'
    )


def _case(case: Case) -> str:
    symbol = SKIPPED if case.skipped else FAILED if case.failed else HELD
    if case.holds and case.findings:
        symbol = ADVICE
    words = [code(case.id)]
    if case.title != case.id:
        words.append(f" {text(case.title)}")
    notes = [f"not tried: {case.skipped}"] if case.skipped else []
    notes += [found.message.partition("\n")[0] for found in case.findings]
    words += [f'<span class="below">{text(note)}</span>' for note in notes]
    time = milliseconds(case.wall_ms) if case.wall_ms else ""
    return f"<tr>{cell(symbol)}{row_head(''.join(words))}{cell(time, 'number quiet')}</tr>"


# --- the kill matrix ------------------------------------------------------------------------------


def _matrix(proof: Proof) -> str:
    checks = proof.matrix.checks
    tier_of = {time.check: time.tier for time in proof.times}
    tiers = [tier_of.get(check, "") for check in checks]
    firsts = {0, *accumulate(len(list(same)) for _, same in groupby(tiers))}
    content = "\n".join([
        _matrix_head(checks, tiers, firsts),
        "<tbody>", *_matrix_rows(proof, tiers, firsts), "</tbody>", _matrix_foot(proof, firsts),
    ])  # fmt: skip
    about = (
        "Which check notices which named mistake. Each must be noticed by the tier that its author "
        "names; what later tiers say of it is for the record."
    )
    legend = (
        '<ul class="legend"><li><span class="swatch of-accent"></span>'
        "noticed by the tier that must</li>"
        '<li><span class="swatch of-edge"></span>noticed by another tier, too</li>'
        '<li><span class="swatch of-soft"></span>the tier that must notice it</li></ul>\n'
    )
    return section("Kill matrix", about, [region("Kill matrix", content, "matrix"), legend])


def _matrix_head(checks: Sequence[str], tiers: Sequence[str], firsts: set[int]) -> str:
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(list(same))}">{text(tier)}</th>'
        for tier, same in groupby(tiers)
    )
    titles = "".join(
        f'<th scope="col" class="{_first(at, firsts)}" title="{text(check)}">'
        f"<span>{text(check_name(check))}</span></th>"
        for at, check in enumerate(checks)
    )
    corner = '<th class="corner" scope="col" rowspan="2">named mutant</th>'
    return f"<thead><tr>{corner}{groups}</tr>\n<tr>{titles}</tr></thead>"


def _matrix_rows(proof: Proof, tiers: Sequence[str], firsts: set[int]) -> Iterator[str]:
    dot = '<span class="dot" aria-hidden="true"></span><span class="visually-hidden">noticed</span>'
    for row in proof.matrix.rows:
        failed = frozenset(row.failed)
        tag = ' <span class="tag">pitfall</span>' if row.pitfall else ""
        head = row_head(
            f'{text(row.title)}<span class="below">{code(row.mutant)} '
            f'<span class="tag">{text(row.tier)}</span>{tag}</span>'
        )
        cells = "".join(
            cell(
                dot if check in failed else "",
                f"{_first(at, firsts)}{' expected' if tier == row.tier else ''}".strip(),
            )
            for at, (check, tier) in enumerate(zip(proof.matrix.checks, tiers, strict=True))
        )
        yield f"<tr>{head}{cells}</tr>"


def _matrix_foot(proof: Proof, firsts: set[int]) -> str:
    counts = [
        sum(check in row.failed for row in proof.matrix.rows) for check in proof.matrix.checks
    ]
    cells = "".join(
        cell(str(count), f"{_first(at, firsts)}{'' if count else ' none'}".strip())
        for at, count in enumerate(counts)
    )
    return f"<tfoot><tr>{row_head('mistakes it notices')}{cells}</tr></tfoot>"


def _first(at: int, firsts: set[int]) -> str:
    return "first" if at in firsts else ""


# --- made mutants ---------------------------------------------------------------------------------


def _made(proof: Proof) -> str:
    survivors = proof.survivors
    equivalent = [mutant for mutant in proof.made if mutant.equivalent]
    killed = [mutant for mutant in proof.made if mutant.killed_by and not mutant.equivalent]
    sizes = [("of-pass", len(killed)), ("of-fail", len(survivors)), ("of-edge", len(equivalent))]
    words = zip(sizes, ("killed", "survived", "equivalent"), strict=True)
    legend = "".join(
        f'<li><span class="swatch {kind}"></span>{size} {what}</li>' for (kind, size), what in words
    )
    parts = [stack(sizes), f'<ul class="legend">{legend}</ul>\n']
    if equivalent:
        title = f"{len(equivalent)} equivalent, with the reason"
        parts.append(fold(title, _equivalent_mutants(equivalent)))
    parts.append(fold("By operator", _by_operator(proof.made)))
    if killed:
        parts.append(fold("By what killed them", _by_killer(killed)))
    about = (
        "Mistakes that a machine made of the reference: what no check notices, a student may do. "
        "Survivors are told above."
    )
    return section("Made mutants", about, parts)


def _equivalent_mutants(mutants: Sequence[MadeMutant]) -> str:
    items = (
        f"<li><h3>{text(mutant.operator)} <span>line {mutant.line}</span> "
        f'<span class="quiet">{code(mutant.id)}</span></h3>{diff(mutant.diff)}'
        f"<p>{text(mutant.equivalent)}</p></li>\n"
        for mutant in mutants
    )
    return f'<ul class="mutants">\n{"".join(items)}</ul>\n'


def _by_operator(made: Sequence[MadeMutant]) -> str:
    operators = sorted({mutant.operator for mutant in made})
    head = ["operator", "made ", "survived ", "equivalent "]
    rows = (
        [
            row_head(text(operator)), cell(str(len(group)), "number"),
            cell(str(sum(each.survived for each in group)), "number"),
            cell(str(sum(bool(each.equivalent) for each in group)), "number"),
        ]
        for operator in operators
        for group in [[each for each in made if each.operator == operator]]
    )  # fmt: skip
    return table("Made mutants by operator", head, rows)


def _by_killer(killed: Sequence[MadeMutant]) -> str:
    rows = ([row_head(code(by)), cell(str(count), "number")] for by, count in killers(killed))
    return table("Made mutants by what killed them", ["noticed first by", "mutants "], rows)


# --- headroom, times, charts ----------------------------------------------------------------------


def _headroom(proof: Proof) -> str:
    head = ["check", "comparison", "reference ", "on a logarithmic scale", "nearest mistake"]
    rows = []
    for each in proof.headroom:
        what = f'{text(each.what)}<span class="below">{text(each.dtype)}</span>'
        # In words and colour, as the scale cannot be read aloud.
        close = f'<span class="below close">{text(each.close)}</span>' if each.close else ""
        mistake = "none fails by it"
        if each.nearest is not None:
            mistake = f'{share(each.nearest)}<span class="below">{code(each.nearest_mutant)}</span>'
        rows.append([
            row_head(_check(each.check) + close), cell(what),
            cell(share(each.reference), "number"), cell(track(each), "wide"), cell(mistake),
        ])  # fmt: skip
    about = (
        "How much of a comparison's limit the reference uses at worst, over all seeds (●), "
        "and by how much the nearest mistake exceeds it (◆)."
    )
    return section("Headroom", about, [table("Headroom", head, rows)])


def _times(proof: Proof) -> str:
    longest = max(time.longest_ms for time in proof.times)
    head = ["tier", "check", "median ", "longest ", ""]
    rows = (
        [
            cell(text(time.tier)), row_head(_check(time.check)),
            cell(milliseconds(time.median_ms), "number"),
            cell(milliseconds(time.longest_ms), "number"), cell(bar(time, longest), "wide"),
        ]
        for time in proof.times
    )  # fmt: skip
    about = "What each check takes on the reference, judged in a sandbox."
    return section("Times", about, [table("Times per check", head, rows)])


def _check(check: str) -> str:
    """Its name, which may be broken between its words."""
    return code(check_name(check)).replace("_", "_<wbr>")


def _charts(charts: Sequence[Chart]) -> str:
    return section("Charts", "As the reference draws them.", map(_chart, charts))


def _chart(chart: Chart) -> str:
    numbers = _numbers(chart)
    try:
        light, dark = (_address(draw_on_paper(chart, dark=dark)) for dark in (False, True))
    except (ChartsUnavailable, UndrawableChart) as reason:
        picture = f"<p>{text(str(reason))}</p>\n{numbers}"
        return f"<figure><figcaption>{text(chart.title)}\n{picture}</figcaption></figure>\n"
    picture = (
        f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
        f'<img src="{light}" alt="{text(chart.title)}"></picture>'
    )
    label = text(f"Chart: {chart.title}")
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"{picture}</div>\n"
        f"<figcaption>{text(chart.title)}\n{fold('Numbers', numbers)}</figcaption></figure>\n"
    )


def _address(svg: str) -> str:
    """A picture inside the page: as an image, its ids and styles stay its own."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}"


def _numbers(chart: Chart) -> str:
    columns = list(dict.fromkeys(key for row in chart.table for key in row))
    rows = (
        [cell(text(_value(row.get(column)))) for column in columns]
        for row in chart.table[:MAX_NUMBERS]
    )
    shown = table(f"Numbers of {chart.title}", list(map(text, columns)), rows)
    more = len(chart.table) - MAX_NUMBERS
    return shown + (f"<p>... and {more} more rows</p>\n" if more > 0 else "")


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value)
