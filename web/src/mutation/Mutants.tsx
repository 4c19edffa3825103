import "./Mutants.css";

import { useMemo } from "preact/hooks";

import type { Mutation } from "../api/types";
import { counted } from "../parts/amounts";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { type Column, matrixOf } from "./matrix";

/** The mutants in words: survivors by what they do, the others by the mistake that was made. */
export function Mutants({ mutation }: { mutation: Mutation }) {
  const { columns } = useMemo(() => matrixOf(mutation), [mutation]);
  const survivors = columns.filter(({ survived }) => survived);
  const killed = columns.filter(({ survived }) => !survived);
  return (
    <>
      {survivors.length > 0 && (
        <section class="mutants" aria-labelledby="mutants-survivors">
          <h4 id="mutants-survivors">What no test notices</h4>
          <ul>
            {survivors.map((column) => (
              <li key={column.id} class={column.mustKill ? "is-pitfall" : undefined}>
                <span class="mutants-label">{column.label}</span>
                <span>
                  {column.mustKill && <b>A pitfall. </b>}
                  <Coded text={column.symptom ?? "This one has no symptom to tell of."} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {killed.length > 0 && (
        <details class="mutants mutants-killed">
          <summary>
            <Icon name="chevron" />
            {counted(killed.length, "mutant")} noticed
          </summary>
          <ul>
            {killed.map((column) => (
              <li key={column.id}>
                <span class="mutants-label">{column.label}</span>
                <span>
                  <Killed column={column} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Killed({ column: { title, symptom, killers } }: { column: Column }) {
  return (
    <>
      <Coded text={title ?? symptom ?? ""} />{" "}
      <span class="quiet">noticed by {counted(killers, "test")}</span>
    </>
  );
}
