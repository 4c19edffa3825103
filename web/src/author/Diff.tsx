import "./Diff.css";

import { diffLines } from "./numbers";

/** A unified diff, without headings of files and places. */
export function Diff({ diff, label }: { diff: string; label: string }) {
  return (
    <div class="author-diff" tabIndex={0} role="group" aria-label={label}>
      {diffLines(diff).map(({ kind, text }, at) => (
        <Line key={at} kind={kind} text={text} />
      ))}
    </div>
  );
}

function Line({ kind, text }: ReturnType<typeof diffLines>[number]) {
  if (kind === "added") return <ins>{text}</ins>;
  if (kind === "removed") return <del>{text}</del>;
  return <span>{text}</span>;
}
