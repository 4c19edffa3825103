import { useRef } from "preact/hooks";

import type { JudgingView } from "../judging/view";
import { statements } from "./words";

/**
 * Says aloud what happens. Lines are only ever added while a submission is judged, so that each is
 * read once; of a submission that was finished when it was opened only the verdict is said.
 */
export function Announcer({ view }: { view: JudgingView | null }) {
  const live = useRef<string | null>(null);
  if (view && view.phase !== "finished" && view.phase !== "opening") live.current = view.id;
  const said = view ? statements(view) : [];
  const lines = view?.phase === "finished" && live.current !== view.id ? said.slice(-1) : said;
  return (
    <div class="visually-hidden" role="log" aria-live="polite" aria-label="Judging">
      {lines.map((line, at) => (
        <p key={`${view?.id ?? ""} ${at} ${line}`}>{line}</p>
      ))}
    </div>
  );
}
