/** Marks of where an exception came from: the line shown last, and all of them in the gutter. */
import {
  type EditorState,
  type Extension,
  RangeSet,
  StateEffect,
  StateField,
  Text,
  type TransactionSpec,
} from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, gutterLineClass } from "@codemirror/view";

/** Lines, and the text they are lines of; they are shown while the editor has that very text. */
interface FailedLines {
  sent: string;
  /** From 1. */
  lines: readonly number[];
}

const setRevealed = StateEffect.define<number>();
const setFailed = StateEffect.define<FailedLines | null>();
const revealedLine = Decoration.line({ class: "cm-revealed" });

const revealed = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setRevealed)) return Decoration.set(revealedLine.range(effect.value));
    }
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

class FailedLine extends GutterMarker {
  override elementClass = "cm-failed";
}
const failedLine = new FailedLine();

interface Failed {
  sent: Text;
  lines: readonly number[];
}

const failed = StateField.define<Failed | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setFailed)) return effect.value && asText(effect.value);
    }
    return value;
  },
});

const asText = ({ sent, lines }: FailedLines): Failed => ({
  sent: Text.of(sent.split(/\r\n?|\n/)),
  lines,
});

function markers(state: EditorState): RangeSet<GutterMarker> {
  const value = state.field(failed);
  if (!value?.sent.eq(state.doc)) return RangeSet.of<GutterMarker>([]);
  const known = value.lines.filter((line) => line >= 1 && line <= state.doc.lines);
  return RangeSet.of(
    known.map((line) => failedLine.range(state.doc.line(line).from)),
    true,
  );
}

export const marks: Extension = [
  revealed,
  failed,
  gutterLineClass.compute([failed, "doc"], markers),
];

/** Show a line, from 1, with the cursor in it, and mark it until the next change. */
export function revealLine(state: EditorState, number: number): TransactionSpec {
  const line = state.doc.line(Math.min(Math.max(number, 1), state.doc.lines));
  const indentation = /^\s*/.exec(line.text)?.[0].length ?? 0;
  return {
    selection: { anchor: line.from + indentation },
    effects: [setRevealed.of(line.from), EditorView.scrollIntoView(line.from, { y: "center" })],
  };
}

export const markFailed = (value: FailedLines | null): TransactionSpec => ({
  effects: setFailed.of(value),
});
