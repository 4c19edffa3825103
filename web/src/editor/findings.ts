/** Ruff's findings as marks in the text of a tab. */
import type { Action, Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";

import type { Finding } from "./ruff.worker";

type Place = Finding["start_location"];
type Fix = NonNullable<Finding["fix"]>;
interface Edit {
  from: number;
  to: number;
  insert: string;
}

// The code does not run, or fails where it comes by. All others are worth a look.
const ERRORS = /^(invalid-syntax|E9\d+|F5[02]\d|F7\d\d|F82\d)$/;
// True of a file that is one with another, but no fault in it: an import made again, or not on top.
const NOT_AFTER_OTHERS = new Set(["F811", "F404"]);

/**
 * Diagnostics of a text, from findings about it with `before` other lines in front of it.
 *
 * What ruff found in those lines is left out.
 */
export function diagnosticsOf(
  findings: readonly Finding[],
  doc: Text,
  before = 0,
): readonly Diagnostic[] {
  return findings
    .filter(({ start_location: start }) => start.row > before)
    .filter(({ code }) => before === 0 || code === null || !NOT_AFTER_OTHERS.has(code))
    .map((finding) => diagnosticOf(finding, doc, before));
}

function diagnosticOf(finding: Finding, doc: Text, before: number): Diagnostic {
  const from = offset(doc, finding.start_location, before);
  const to = Math.max(offset(doc, finding.end_location, before), from);
  return {
    from,
    // One without extent, at the end of a line say, would be hard to see and to point at.
    to: to === from ? Math.min(from + 1, doc.length) : to,
    severity: severityOf(finding),
    source: sourceOf(finding),
    message: finding.message,
    actions: finding.fix ? actionsOf(finding.fix, doc, before) : [],
  };
}

function severityOf({ code, tags }: Finding): Diagnostic["severity"] {
  if (code === null || ERRORS.test(code)) return "error";
  return tags.includes("unnecessary") ? "info" : "warning";
}

const sourceOf = ({ code }: Finding): string =>
  code === null || code === "invalid-syntax" ? "syntax" : `ruff ${code}`;

function actionsOf(fix: Fix, doc: Text, before: number): Action[] {
  if (fix.edits.some(({ location }) => location.row <= before)) return [];
  const edits = editsOf(fix, doc, before);
  return [
    {
      name: fix.message ?? "Fix",
      apply(view) {
        // Edits are about the text that was checked. After a change it is checked again anyway.
        if (view.state.doc.eq(doc)) view.dispatch({ changes: edits, userEvent: "input.fix" });
      },
    },
  ];
}

/** A fix as changes of the text. */
export function editsOf(fix: Fix, doc: Text, before = 0): Edit[] {
  return fix.edits.map(({ location, end_location: end, content }) => ({
    from: offset(doc, location, before),
    to: offset(doc, end, before),
    insert: content ?? "",
  }));
}

/** Rows and columns count from 1, columns in UTF-16; a row after the last is the end. */
function offset(doc: Text, { row, column }: Place, before: number): number {
  const number = row - before;
  if (number > doc.lines) return doc.length;
  const line = doc.line(Math.max(number, 1));
  return Math.min(line.from + Math.max(column - 1, 0), line.to);
}
