/** Findings while typing, and formatting. Loaded after the editor can be used. */
import { forEachDiagnostic, lintKeymap, linter } from "@codemirror/lint";
import { diff } from "@codemirror/merge";
import type { ChangeSpec, Extension } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";

import { diagnosticsOf } from "./findings";
import type { Ruff } from "./ruff";

const DELAY_MS = 300;

/** Check a tab as one types. `before` is the code that has run when this one begins, if any has. */
export function findings(ruff: Ruff, before: () => string | null): Extension {
  return [
    linter(
      async ({ state: { doc } }) => {
        const above = before();
        if (above === null) return diagnosticsOf(await ruff.check(doc.toString()), doc);
        const found = await ruff.check(`${above}\n${doc.toString()}`);
        return diagnosticsOf(found, doc, above.split(/\r\n?|\n/).length);
      },
      { delay: DELAY_MS },
    ),
    keymap.of([...lintKeymap, { key: "Mod-.", run: fixAtCursor }]),
  ];
}

/** Apply the first fix that is offered for the cursor's line. */
function fixAtCursor(view: EditorView): boolean {
  const line = view.state.doc.lineAt(view.state.selection.main.head);
  const fixes: (() => void)[] = [];
  forEachDiagnostic(view.state, ({ actions }, from, to) => {
    const [action] = actions ?? [];
    if (action && from <= line.to && to >= line.from) {
      fixes.push(() => {
        action.apply(view, from, to);
      });
    }
  });
  fixes[0]?.();
  return fixes.length > 0;
}

/** What formatting changes, piece by piece, so that the cursor and the marks stay where they are. */
export const changesBetween = (old: string, next: string): ChangeSpec =>
  diff(old, next).map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: toA,
    insert: next.slice(fromB, toB),
  }));
