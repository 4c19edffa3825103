import { useMemo } from "preact/hooks";

import { columnsOf } from "./numbers";
import type { NumbersTable } from "./shown";

const MOST_ROWS = 200;

/** A chart's numbers as a table; it scrolls inside its own frame. */
export function Numbers({ caption, rows }: NumbersTable) {
  const columns = useMemo(() => columnsOf(rows.slice(0, MOST_ROWS)), [rows]);
  const left = rows.length - MOST_ROWS;
  return (
    // It can scroll, so it can be reached by keyboard.
    <div class="chart-numbers" role="group" aria-label={`Numbers: ${caption}`} tabIndex={0}>
      <table>
        <caption>
          {caption}
          {left > 0 && `, the first ${MOST_ROWS} of ${rows.length} rows`}
        </caption>
        <thead>
          <tr>
            {columns.map(({ name, numeric }) => (
              <th key={name} scope="col" class={numeric ? "chart-number" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map((_row, at) => (
            <tr key={at}>
              {columns.map(({ name, numeric, cells }) => (
                <td key={name} class={numeric ? "chart-number" : undefined}>
                  {cells[at]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
