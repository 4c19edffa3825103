import "./Faults.css";

import type { FaultCard } from "../api/types";
import { Coded } from "../parts/Coded";
import { shortPath } from "./state";

interface Props {
  faults: readonly Pick<FaultCard, "file" | "line" | "message" | "remedy">[];
  /** The exercise's folder, as the judge names it. */
  folder: string;
  tone?: "fail" | "limit" | "skip";
}

/** What is wrong: where, what, and what to do. */
export function Faults({ faults, folder, tone = "fail" }: Props) {
  return (
    <ul class={`faults faults-${tone}`}>
      {faults.map(({ file, line, message, remedy }, index) => (
        <li key={index}>
          <code class="faults-place" title={`${file}:${line}`}>
            {shortPath(file, folder)}:{line}
          </code>
          <p>
            <Coded text={message} />
          </p>
          {remedy !== "" && (
            <p class="quiet">
              To mend it: <Coded text={remedy} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
