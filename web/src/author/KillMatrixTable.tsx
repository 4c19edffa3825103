import "./KillMatrixTable.css";

import { useMemo } from "preact/hooks";

import type { KillMatrix } from "../api/types";
import { useScrollable } from "../exercise/scrolling";
import { counted } from "../parts/amounts";
import { Icon } from "../parts/Icon";
import { type KillLine, killTable, type Mark } from "./killTable";

interface Props {
  matrix: KillMatrix;
  tierOf: (check: string) => string;
}

/** Named mutants by checks: where each is rejected, and where it should be. */
export function KillMatrixTable({ matrix, tierOf }: Props) {
  const table = useMemo(() => killTable(matrix, tierOf), [matrix, tierOf]);
  const box = useScrollable<HTMLDivElement>("Mutants by checks");
  const wrong = table.lines.filter((line) => line.wrong !== null);
  if (table.lines.length === 0) return null;
  return (
    <section class="author-part" aria-labelledby="author-kills">
      <h3 id="author-kills">Kill matrix</h3>
      <p class="author-sum">
        {table.lines.length - wrong.length} of {counted(table.lines.length, "named mutant")} are
        rejected where they should be.
      </p>
      {wrong.length > 0 && (
        <ul class="kills-wrong">
          {wrong.map(({ mutant, wrong: sentence }) => (
            <li key={mutant}>
              <Icon name="fail" />
              <span>
                <code>{mutant}</code>: {sentence}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="kills-scroll" ref={box}>
        <table class="kills">
          <caption class="visually-hidden">Which check rejects which mutant</caption>
          <thead>
            <tr class="kills-tiers">
              <td />
              {table.groups.map(({ tier, columns }, at) => (
                <th key={at} scope="colgroup" colSpan={columns}>
                  {tier || "?"}
                </th>
              ))}
            </tr>
            <tr class="kills-checks">
              <th scope="col" class="kills-mutant">
                mutant
              </th>
              {table.columns.map(({ id, name }) => (
                <th key={id} scope="col" title={id}>
                  <span>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.lines.map((line) => (
              <Line key={line.mutant} line={line} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="kills-legend">
        <span>
          <Cell mark="here" /> rejected in its tier
        </span>
        <span>
          <Cell mark="elsewhere" /> also by another tier
        </span>
        <span>
          <Cell mark="missed" /> passed there
        </span>
        <span>
          <b class="kills-pitfall">pitfall</b> has a hint of its own
        </span>
      </p>
    </section>
  );
}

function Line({ line }: { line: KillLine }) {
  return (
    <tr class={line.wrong === null ? undefined : "is-wrong"}>
      <th scope="row" class="kills-mutant" title={line.title}>
        {line.wrong !== null && <Icon name="fail" />}
        <code>{line.mutant}</code> <span class="quiet">{line.tier}</span>
        {line.isPitfall && <b class="kills-pitfall">pitfall</b>}
        {line.wrong !== null && <span class="visually-hidden">. {line.wrong}</span>}
      </th>
      {line.marks.map((mark, at) => (
        <td key={at}>
          <Cell mark={mark} />
          <span class="visually-hidden">{WORDS[mark]}</span>
        </td>
      ))}
    </tr>
  );
}

const WORDS: Record<Mark, string> = {
  here: "rejected",
  elsewhere: "rejected, in another tier",
  missed: "passed, in its tier",
  none: "passed",
};

function Cell({ mark }: { mark: Mark }) {
  return (
    <span class={`kills-cell is-${mark}`} aria-hidden="true">
      {(mark === "here" || mark === "elsewhere") && <Icon name="pass" />}
    </span>
  );
}
