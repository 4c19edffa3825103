import "./MadeMutants.css";

import type { Finding, MadeMutant } from "../api/types";
import { Score } from "../mutation/Score";
import { counted } from "../parts/amounts";
import { Icon } from "../parts/Icon";
import { Diff } from "./Diff";
import { Faults } from "./Faults";
import { summaryOf } from "./numbers";

interface Props {
  made: readonly MadeMutant[];
  /** The share of those that count that has to be noticed. */
  needed: number;
  /** What the proof says of them: those that no check notices, and entries to be corrected. */
  findings: readonly Finding[];
  folder: string;
}

/** Mutants that a machine made of the reference: how many are noticed, and which are not. */
export function MadeMutants({ made, needed, findings, folder }: Props) {
  const { killed, counted: total, equivalent } = summaryOf(made);
  if (made.length === 0 && findings.length === 0) return null;
  return (
    <section class="author-part" aria-labelledby="author-made">
      <h3 id="author-made">Made mutants</h3>
      <p class="author-sum">
        {killed} of {counted(total, "mutant")} are noticed
        {equivalent.length > 0 && `, not counting ${equivalent.length} equivalent to the reference`}
        .
      </p>
      {total > 0 && <Score score={killed / total} threshold={needed} />}
      <Faults faults={findings.filter(({ advice }) => !advice)} folder={folder} />
      <Faults faults={findings.filter(({ advice }) => advice)} folder={folder} tone="limit" />
      {equivalent.length > 0 && (
        <details class="author-more">
          <summary>
            <Icon name="chevron" /> {counted(equivalent.length, "equivalent mutant")}
          </summary>
          {equivalent.map((mutant) => (
            <Mutant key={mutant.id} mutant={mutant} />
          ))}
        </details>
      )}
    </section>
  );
}

function Mutant({ mutant }: { mutant: MadeMutant }) {
  return (
    <figure class="made">
      <figcaption>
        Line {mutant.line}, {mutant.operator} <code class="quiet">{mutant.id}</code>
        {mutant.equivalent && <p class="quiet">{mutant.equivalent}</p>}
      </figcaption>
      <Diff diff={mutant.diff} label={`Diff of ${mutant.id}`} />
    </figure>
  );
}
