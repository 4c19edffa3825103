import "./ExpectedGot.css";

import type { Table } from "../api/types";
import { alignedTogether } from "./align";

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
  const tables = sides.map(({ value }) => (typeof value === "string" ? [] : value.rows));
  const texts = alignedTogether(tables);
  return (
    <div class="expected-got">
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

/** A window of an array. An entry that differs has a frame and a sign, not only a colour. */
function Entries({ title, table, texts }: EntriesProps) {
  const { dtype, shape, row_labels, column_labels, differs } = table;
  return (
    // What scrolls can be reached by keyboard.
    <div class="expected-got-side" role="group" aria-label={`${title}, table`} tabIndex={0}>
      <table>
        <caption>
          <b>{title}</b> {dtype} [{shape.join(", ")}]{place(table)}
        </caption>
        <thead>
          <tr>
            <td />
            {column_labels.map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
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
                  isDifferent={differs[at]?.[column] ?? false}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Entry({ text, isDifferent }: { text: string; isDifferent: boolean }) {
  return (
    <td class={isDifferent ? "expected-got-differs" : undefined}>
      <span class="expected-got-sign" aria-hidden="true">
        {isDifferent ? "≠" : " "}
      </span>
      {text}
      {isDifferent && <span class="visually-hidden"> differs</span>}
    </td>
  );
}

/** Which part of an array of more than two axes the window is of. */
const place = ({ prefix }: Table): string =>
  prefix.length > 0 ? `, entries [${prefix.join(", ")}, …]` : "";
