/** Columns of printed numbers, aligned at the decimal point. */

/**
 * The entries with spaces before and after, all of one length. What has no point ends where the
 * others have theirs: "12" above "0.5" is "12  " above " 0.5".
 */
export function aligned(entries: readonly string[]): string[] {
  const parts = entries.map(split);
  const before = Math.max(0, ...parts.map(([whole]) => whole.length));
  const after = Math.max(0, ...parts.map(([, rest]) => rest.length));
  return parts.map(([whole, rest]) => whole.padStart(before) + rest.padEnd(after));
}

const DECIMAL = /^-?\d+\.\d+(e[-+]?\d+)?$/;
const FEWEST_DIGITS = 4;
const MOST_DIGITS = 6;
/** How much of a difference may be of rounding. */
const ROUNDING = 0.1;

/**
 * Two tables of printed numbers with fewer digits, as far as what differs still does by as much;
 * as they are where it would not.
 */
export function shortened(
  [one, other]: readonly [string[][], string[][]],
  differs: readonly (readonly boolean[])[],
): [string[][], string[][]] {
  for (let digits = FEWEST_DIGITS; digits < MOST_DIGITS; digits += 1) {
    const tells = differs.every((row, at) =>
      row.every(
        (differ, column) =>
          !differ || tellsApart(one[at]?.[column] ?? "", other[at]?.[column] ?? "", digits),
      ),
    );
    const round = (rows: string[][]) => rows.map((row) => row.map((text) => rounded(text, digits)));
    if (tells) return [round(one), round(other)];
  }
  return [one, other];
}

function tellsApart(one: string, other: string, digits: number): boolean {
  const exact = Number(one) - Number(other);
  const shown = Number(rounded(one, digits)) - Number(rounded(other, digits));
  // Words such as "nan" have no difference, and are not rounded.
  return Number.isNaN(exact) || Math.abs(shown - exact) <= ROUNDING * Math.abs(exact);
}

function rounded(text: string, digits: number): string {
  if (!DECIMAL.test(text)) return text;
  const short = Number(text)
    .toPrecision(digits)
    .replace(/e([-+])(\d)$/, "e$10$2");
  return short.length < text.length ? short : text;
}

/** Before the point, and from it on; words such as "nan" have no point. */
function split(entry: string): [string, string] {
  const at = entry.search(/[.e]/);
  return at < 0 || !/^[-+]?\d/.test(entry) ? [entry, ""] : [entry.slice(0, at), entry.slice(at)];
}

/** The columns of several tables of one width, each aligned through all of them. */
export function alignedTogether(tables: readonly string[][][]): string[][][] {
  const rows = tables.flat();
  const width = Math.max(0, ...rows.map((row) => row.length));
  const columns = Array.from({ length: width }, (_, column) =>
    aligned(rows.map((row) => row[column] ?? "")),
  );
  let next = 0;
  return tables.map((table) =>
    table.map((row) => {
      const at = next++;
      return row.map((_, column) => columns[column]?.[at] ?? "");
    }),
  );
}
