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
