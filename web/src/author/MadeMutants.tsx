import "./MadeMutants.css";

import type { MadeMutant } from "../api/types";
import { Score } from "../mutation/Score";
import { counted } from "../parts/amounts";
import { Icon } from "../parts/Icon";
import { diffLines, summaryOf } from "./numbers";

/** As much of what a machine makes has to be noticed. */
const ENOUGH = 0.95;

/** Mutants that a machine made of the reference: how many are noticed, and which are not. */
export function MadeMutants({ made }: { made: readonly MadeMutant[] }) {
  const { killed, survivors, equivalent, rate } = summaryOf(made);
  if (rate === null) return null;
  return (
    <section class="author-part" aria-labelledby="author-made">
      <h3 id="author-made">Made mutants</h3>
      <p class="author-sum">
        {killed} of {counted(killed + survivors.length, "mutant")} are noticed
        {equivalent.length > 0 && `, not counting ${equivalent.length} equivalent to the reference`}
        .
      </p>
      <Score score={rate} threshold={ENOUGH} />
      {survivors.length > 0 && (
        <>
          <h4>Noticed by no check</h4>
          {survivors.map((mutant) => (
            <Mutant key={mutant.id} mutant={mutant} />
          ))}
        </>
      )}
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
      <div class="made-diff" tabIndex={0} role="group" aria-label={`Diff of ${mutant.id}`}>
        {diffLines(mutant.diff).map(({ kind, text }, at) => (
          <Line key={at} kind={kind} text={text} />
        ))}
      </div>
    </figure>
  );
}

function Line({ kind, text }: ReturnType<typeof diffLines>[number]) {
  if (kind === "added") return <ins>{text}</ins>;
  if (kind === "removed") return <del>{text}</del>;
  return <span>{text}</span>;
}
