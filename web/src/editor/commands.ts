/** What keys of the editor do outside it: run, submit, grade tests, format and keep. */
import { Facet, Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";

export interface Commands {
  run: () => void;
  submit: () => void;
  /** Grade the student's own tests. */
  grade: () => void;
  /** Format, and keep the draft at once. */
  formatAndKeep: () => void;
  keep: () => void;
}

const NOTHING = () => undefined;

/** The commands of the editor a state is in. */
export const commands = Facet.define<Commands, Commands>({
  combine: ([first]) =>
    first ?? {
      run: NOTHING,
      submit: NOTHING,
      grade: NOTHING,
      formatAndKeep: NOTHING,
      keep: NOTHING,
    },
});

const binding = (key: string, name: keyof Commands) => ({
  key,
  preventDefault: true,
  // The page has the same keys for when the focus is elsewhere; once is enough.
  stopPropagation: true,
  run: ({ state }: { state: { facet: (facet: typeof commands) => Commands } }) => {
    state.facet(commands)[name]();
    return true;
  },
});

/** Run, submit and grade; they come before what CodeMirror does with the same keys. */
export const commandKeys = Prec.highest(
  keymap.of([
    binding("Mod-Enter", "run"),
    binding("Mod-Shift-Enter", "submit"),
    binding("Mod-Alt-Enter", "grade"),
  ]),
);

/** Format and keep; it gives way to Emacs, where Ctrl+S searches. */
export const formatKey = keymap.of([binding("Mod-s", "formatAndKeep")]);
