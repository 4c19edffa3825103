/** Two texts, compared by CodeMirror. Loaded when a comparison is opened. */
import { python } from "@codemirror/lang-python";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, lineNumbers } from "@codemirror/view";

import { editedParts, lineChanges, type Span } from "./lineDiff";
import { theme } from "./theme";

export interface Side {
  title: string;
  text: string;
}

interface MergeOptions {
  parent: HTMLElement;
  left: Side;
  right: Side;
  /** Side by side, or one below the other. */
  wide: boolean;
  folded: boolean;
}

// Under the text and not behind it: on a second, darker colour code could not be read well. Nor
// may it lie on underscores.
const edited = (colour: string) => ({ boxShadow: `0 2px ${colour}` });

// A changed line has a sign before it, so that colour is not all that tells.
const differences = EditorView.theme({
  "&": { height: "auto" },
  ".cm-scroller": { overflowX: "auto" },
  // Where a long line goes on.
  ".cm-deletedChunk .cm-deletedLine": { whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  ".cm-deletedChunk": { paddingLeft: "0" },
  ".cm-line, .cm-deletedChunk .cm-deletedLine": {
    position: "relative",
    paddingLeft: "20px !important",
  },
  "&.cm-merge-a .cm-changedLine, & .cm-deletedChunk": { background: "var(--fail-soft)" },
  "&.cm-merge-b .cm-changedLine, & .cm-inlineChangedLine": { background: "var(--pass-soft)" },
  "&.cm-merge-a .cm-edited": edited("var(--fail)"),
  "&.cm-merge-b .cm-edited": edited("var(--pass)"),
  "&.cm-merge-a .cm-changedLine::before, & .cm-deletedChunk .cm-deletedLine::before": {
    content: '"−"',
    position: "absolute",
    left: "6px",
    color: "var(--fail)",
  },
  "&.cm-merge-b .cm-changedLine::before": {
    content: '"+"',
    position: "absolute",
    left: "6px",
    color: "var(--pass)",
  },
  "&.cm-merge-a .cm-changedLineGutter, & .cm-deletedLineGutter": { background: "var(--fail)" },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--pass)" },
  ".cm-deletedChunk del, .cm-insertedLine, .cm-deletedLine": { textDecoration: "none" },
  ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: '"…"' },
  ".cm-collapsedLines": {
    background: "var(--sunken)",
    color: "var(--quiet)",
    padding: "2px 8px",
    font: "var(--small)",
  },
});

const EDITED = Decoration.mark({ class: "cm-edited" });

/** A side that is only read; `parts` of its lines are what was edited. */
function readOnly(label: string, parts: readonly Span[]): Extension {
  const marks = parts
    .filter(({ from, to }) => from < to)
    .map(({ from, to }) => EDITED.range(from, to));
  return [
    EditorView.decorations.of(Decoration.set(marks)),
    EditorView.lineWrapping,
    python(),
    lineNumbers(),
    theme,
    differences,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    // With the focus in it, arrow keys scroll it.
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-readonly": "true",
      tabindex: "0",
    }),
  ];
}

/** Show the comparison in `parent`; returns what removes it. */
export function showMerge({ parent, left, right, wide, folded }: MergeOptions): () => void {
  const parts = editedParts(left.text, right.text);
  const options = {
    diffConfig: { override: lineChanges },
    highlightChanges: false,
    ...(folded && { collapseUnchanged: { margin: 3, minSize: 4 } }),
  };
  const view = wide
    ? new MergeView({
        parent,
        a: { doc: left.text, extensions: readOnly(left.title, parts.left) },
        b: { doc: right.text, extensions: readOnly(right.title, parts.right) },
        ...options,
      })
    : new EditorView({
        parent,
        doc: right.text,
        extensions: [
          readOnly(`${left.title} compared with ${right.title}`, parts.right),
          unifiedMergeView({ original: left.text, mergeControls: false, ...options }),
        ],
      });
  return () => {
    view.destroy();
  };
}
