import type { Frame } from "../api/types";

/** What other panes may ask of the editor. */
export interface EditorHandle {
  /** The student's files by name, as they are now. */
  files: () => Record<string, string>;
  scratch: () => string;
  /** Show the file's line, put the cursor there and mark it until the next change. */
  reveal: (frame: Frame) => void;
  /** Replace whole files, as one change that can be undone. */
  replace: (files: Record<string, string>) => void;
  format: () => void;
  focus: () => void;
}
