import "./MatrixTable.css";

import { useMemo } from "preact/hooks";

import type { Mutation } from "../api/types";
import { breakable } from "../parts/names";
import { useScrollable } from "../exercise/scrolling";
import { Icon } from "../parts/Icon";
import { type Column, matrixOf, type Row } from "./matrix";

/** Tests by mutants: which test notices which mistake. What it says, it says without colour too. */
export function MatrixTable({ mutation }: { mutation: Mutation }) {
  const { columns, rows } = useMemo(() => matrixOf(mutation), [mutation]);
  const box = useScrollable<HTMLDivElement>("Tests by mutants");
  const hasPitfalls = columns.some(({ mustKill }) => mustKill);
  const hasSurvivors = columns.some(({ survived }) => survived);
  return (
    <div class="matrix">
      <div class="matrix-scroll" ref={box}>
        <table>
          <caption class="visually-hidden">Which of your tests notice which mutant</caption>
          <thead>
            <tr>
              <th scope="col" class="matrix-test">
                test
              </th>
              {columns.map((column) => (
                <Head key={column.id} column={column} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <th scope="row" class="matrix-test">
                  <Name row={row} />
                </th>
                {columns.map((column, at) => (
                  <Cell key={column.id} column={column} isKilled={row.kills[at] ?? false} />
                ))}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" class="matrix-test">
                noticed by
              </th>
              {columns.map((column) => (
                <td key={column.id} class={classOf(column)}>
                  {column.survived ? <b>none</b> : column.killers}
                </td>
              ))}
            </tr>
          </tfoot>
        </table>
      </div>
      <p class="matrix-sign" aria-hidden="true">
        Scroll sideways for more mutants <Icon name="chevron" />
      </p>
      <p class="matrix-legend">
        <span>
          <span class="matrix-tile is-killed" aria-hidden="true">
            <Icon name="pass" />
          </span>{" "}
          the test fails on the mutant: noticed
        </span>
        {hasPitfalls && (
          <span>
            <b class="matrix-must">must</b> a pitfall, to be noticed in any case
          </span>
        )}
        {hasSurvivors && (
          <span>
            <span class="matrix-outline" aria-hidden="true" /> noticed by none
          </span>
        )}
      </p>
    </div>
  );
}

function Head({ column }: { column: Column }) {
  return (
    <th scope="col" class={classOf(column)} title={column.title ?? undefined}>
      {column.label}
      <span class="matrix-must">{column.mustKill ? "must" : ""}</span>
      {column.survived && <span class="visually-hidden">, not noticed</span>}
    </th>
  );
}

function Cell({ column, isKilled }: { column: Column; isKilled: boolean }) {
  return (
    <td class={classOf(column)}>
      <span class={`matrix-tile ${isKilled ? "is-killed" : ""}`}>
        {isKilled ? <Icon name="pass" /> : <span aria-hidden="true">·</span>}
        <span class="visually-hidden">{isKilled ? "noticed" : "not noticed"}</span>
      </span>
    </td>
  );
}

function Name({ row }: { row: Row }) {
  return (
    <>
      <span class="matrix-name">{breakable(row.name.replace(/^test_/, ""))}</span>
      {row.isFlaky && <span class="matrix-flaky">flaky</span>}
    </>
  );
}

function classOf({ survived, mustKill }: Column): string | undefined {
  if (!survived) return undefined;
  return mustKill ? "is-survivor is-pitfall" : "is-survivor";
}
