import type { ReadonlySignal } from "@preact/signals";

import type { Frame } from "../api/types";

/** What other panes may ask of the editor. */
export interface EditorHandle {
  /** The student's files by name, as they are now. */
  files: () => Record<string, string>;
  /** The files of the student's own tests by name. */
  tests: () => Record<string, string>;
  scratch: () => string;
  /** Grows whenever one of these texts changes. */
  changes: ReadonlySignal<number>;
  /** Show the file's line, put the cursor there and mark it until the next change. */
  reveal: (frame: Frame) => void;
  /** Replace whole files, as one change that can be undone; files of tests may be new ones. */
  replace: (files: Record<string, string>) => void;
  format: () => void;
  focus: () => void;
}
