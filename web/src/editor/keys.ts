/** Which keys edit: the standard ones, Vim's or Emacs's; remembered in this browser. */
import { acceptCompletion, closeCompletion } from "@codemirror/autocomplete";
import { insertNewlineAndIndent } from "@codemirror/commands";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

import { remember, remembered } from "../parts/storage";
import { commands } from "./commands";

export const KEYS = { standard: "Standard keys", vim: "Vim keys", emacs: "Emacs keys" } as const;
export type Keys = keyof typeof KEYS;

const KEPT_AS = "judge:keys";

export const isKeys = (value: unknown): value is Keys =>
  typeof value === "string" && Object.hasOwn(KEYS, value);

export function rememberedKeys(): Keys {
  const stored = remembered(KEPT_AS);
  return isKeys(stored) ? stored : "standard";
}

export function rememberKeys(keys: Keys): void {
  remember(KEPT_AS, keys);
}

/** The keys' extension; whoever keeps the standard ones loads nothing for the others. */
export async function loadKeys(keys: Keys): Promise<Extension> {
  switch (keys) {
    case "standard":
      return [];
    case "vim": {
      const { Vim, vim } = await import("@replit/codemirror-vim");
      Vim.defineEx("write", "w", ({ cm6 }: { cm6: EditorView }) => {
        cm6.state.facet(commands).keep();
      });
      return [closesCompletion, vim({ status: true })];
    }
    case "emacs": {
      const { EmacsHandler, emacs } = await import("@replit/codemirror-emacs");
      EmacsHandler.bindKey("Return|C-m", insertNewlineAndIndent);
      return [takesCompletion, emacs()];
    }
  }
}

/** Escape closes the list of completions and still is Vim's. */
const closesCompletion = EditorView.domEventHandlers({
  keydown({ key }, view) {
    if (key === "Escape") closeCompletion(view);
    return false;
  },
});

/** Enter takes what the list of completions offers; else it is Emacs's. */
const takesCompletion = EditorView.domEventHandlers({
  keydown: ({ key, ctrlKey, metaKey }, view) =>
    key === "Enter" && !ctrlKey && !metaKey && acceptCompletion(view),
});
