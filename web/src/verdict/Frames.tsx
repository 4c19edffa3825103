import "./Frames.css";

import type { Frame } from "../api/types";
import { SCRATCH_FILE } from "../judging/view";

/** What Python calls the lines of a file that stand in no function. */
const TOP_LEVEL = "<module>";

interface Props {
  frames: readonly Frame[];
  /** The scratch file was an example: the editor does not hold it. */
  isExample?: boolean;
  onReveal: (frame: Frame) => void;
}

/** Where an exception came from: lines of the student's own, each a way into the editor. */
export function Frames({ frames, isExample = false, onReveal }: Props) {
  if (frames.length === 0) return null;
  return (
    <ol class="frames" aria-label="Where it happened">
      {frames.map((frame, at) => (
        <li key={at}>
          {isExample && frame.file === SCRATCH_FILE ? (
            <span>{place({ ...frame, file: "The example" })}</span>
          ) : (
            <button
              type="button"
              class="frames-place"
              onClick={() => {
                onReveal(frame);
              }}
            >
              {place(frame)}
            </button>
          )}
          {frame.function && frame.function !== TOP_LEVEL && (
            <span class="quiet"> in {frame.function}</span>
          )}
          {frame.text && <pre>{frame.text}</pre>}
        </li>
      ))}
    </ol>
  );
}

function place({ file, line, column }: Frame): string {
  return (column ?? null) === null
    ? `${file}, line ${line}`
    : `${file}, line ${line}, column ${column}`;
}
