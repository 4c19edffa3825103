/** What an example printed beside what it should print, line by line. */

export interface Line {
  /** Null where the other side has more lines. */
  expected: string | null;
  got: string | null;
  isSame: boolean;
}

/** Line by line; spaces at the end of a line and empty lines at the end of a text do not count. */
export function comparedLines(expected: string, got: string): Line[] {
  const [left, right] = [linesOf(expected), linesOf(got)];
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
    const line = { expected: left[at] ?? null, got: right[at] ?? null };
    return { ...line, isSame: line.expected === line.got };
  });
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  return lines;
}
