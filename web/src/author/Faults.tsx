import "./Faults.css";

import type { FaultCard } from "../api/types";
import { Coded } from "../parts/Coded";
import { Diff } from "./Diff";
import { shortPath } from "./state";

interface Props {
  faults: readonly Pick<FaultCard, "file" | "line" | "message" | "remedy">[];
  /** The exercise's folder, as the judge names it. */
  folder: string;
  tone?: "fail" | "limit" | "skip";
}

/** What is wrong: where, what, and what to do. */
export function Faults({ faults, folder, tone = "fail" }: Props) {
  if (faults.length === 0) return null;
  return (
    <ul class={`faults faults-${tone}`}>
      {faults.map(({ file, line, message, remedy }, index) => (
        <li key={index}>
          <code class="faults-place" title={`${file}:${line}`}>
            {shortPath(file, folder)}:{line}
          </code>
          <Message text={message} />
          {remedy !== "" && <Remedy text={remedy} />}
        </li>
      ))}
    </ul>
  );
}

/** A sentence, and below it the diff that it is about, if any. */
function Message({ text }: { text: string }) {
  const at = text.indexOf("\n@@ ");
  const sentence = at < 0 ? text : text.slice(0, at);
  return (
    <>
      <p>
        <Coded text={sentence} />
      </p>
      {at >= 0 && <Diff diff={text.slice(at + 1)} label={`Diff: ${sentence}`} />}
    </>
  );
}

/** What to do, and below it what may be copied, if anything. */
function Remedy({ text }: { text: string }) {
  const [words = "", ...lines] = text.trimEnd().split("\n");
  return (
    <>
      <p class="quiet">
        To mend it: <Coded text={words} />
      </p>
      {lines.length > 0 && (
        <pre class="faults-copy" tabIndex={0} aria-label="To copy">
          {lines.join("\n")}
        </pre>
      )}
    </>
  );
}
