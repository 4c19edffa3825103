import "./ExpectedGot.css";

import type { Table } from "../api/types";
import { alignedTogether, shortened } from "./align";

type Value = Table | string;

interface Props {
  expected: Value | null;
  got: Value | null;
}

/** Expected and got, side by side where there is room. */
export function ExpectedGot({ expected, got }: Props) {
  const sides = (
    [
      ["expected", expected],
      ["got", got],
    ] as const
  ).flatMap(([title, value]) => (value === null ? [] : [{ title, value }]));
  if (sides.length === 0) return null;
  const texts = alignedTogether(rowsOf(expected, got) ?? sides.map(({ value }) => rows(value)));
  const isMixed = sides.some(
    ({ value }) => typeof value !== "string" && !value.differs.flat().every((differs) => differs),
  );
  return (
    // Where every entry differs there is nothing to point at.
    <div class={isMixed ? "expected-got" : "expected-got all-differ"}>
      {sides.map(({ title, value }, at) =>
        typeof value === "string" ? (
          <Plain key={title} title={title} text={value} />
        ) : (
          <Entries key={title} title={title} table={value} texts={texts[at] ?? []} />
        ),
      )}
    </div>
  );
}

const rows = (value: Value | null): string[][] =>
  value === null || typeof value === "string" ? [] : value.rows;

/** Of two tables of the same place, with the digits that matter; null of anything else. */
function rowsOf(expected: Value | null, got: Value | null): [string[][], string[][]] | null {
  if (expected === null || got === null) return null;
  if (typeof expected === "string" || typeof got === "string") return null;
  return shortened([expected.rows, got.rows], expected.differs);
}

function Plain({ title, text }: { title: string; text: string }) {
  return (
    <figure class="expected-got-side">
      <figcaption>{title}</figcaption>
      <pre class="expected-got-plain">{text}</pre>
    </figure>
  );
}

interface EntriesProps {
  title: string;
  table: Table;
  texts: string[][];
}

/** A window of an array. An entry that differs has a sign too, where not all do. */
function Entries({ title, table, texts }: EntriesProps) {
  const { dtype, shape, row_labels, column_labels, differs } = table;
  const part = partOf(table);
  return (
    // What scrolls can be reached by keyboard.
    <div class="expected-got-side" role="group" aria-label={`${title}, table`} tabIndex={0}>
      <table>
        <caption>
          <b>{title}</b> {dtype} [{shape.join(", ")}]
          {part !== null && (
            <>
              , the part <span class="expected-got-place">{part}</span>
            </>
          )}
        </caption>
        <thead>
          <tr>
            <td />
            {column_labels.map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
            <td class="expected-got-rest" aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          {texts.map((row, at) => (
            <tr key={row_labels[at]}>
              <th scope="row">{row_labels[at]}</th>
              {row.map((text, column) => (
                <Entry
                  key={column_labels[column]}
                  text={text}
                  exact={table.rows[at]?.[column] ?? text}
                  isDifferent={differs[at]?.[column] ?? false}
                />
              ))}
              <td class="expected-got-rest" aria-hidden="true" />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface EntryProps {
  text: string;
  exact: string;
  isDifferent: boolean;
}

function Entry({ text, exact, isDifferent }: EntryProps) {
  return (
    <td
      class={isDifferent ? "expected-got-differs" : undefined}
      title={text.trim() === exact ? undefined : exact}
    >
      <span class="expected-got-sign" aria-hidden="true">
        {isDifferent ? "≠" : " "}
      </span>
      {text}
      {isDifferent && <span class="visually-hidden"> differs</span>}
    </td>
  );
}

/** "[0, 1, :, :]": which part of an array of more than two axes the window is of. */
const partOf = ({ prefix, shape }: Table): string | null =>
  prefix.length > 0 ? `[${shape.map((_, axis) => String(prefix[axis] ?? ":")).join(", ")}]` : null;
