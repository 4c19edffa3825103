/**
 * How two texts differ: line by line, and inside of a line only where little of it has changed.
 *
 * Letters of rather different texts agree here and there by chance, and marks between them would
 * hide what is the same and what is not. Lines are long enough to agree on purpose.
 */
import { Change, presentableDiff } from "@codemirror/merge";

/** Longer texts than any exercise has differ in one piece, from the first line to the last. */
const MOST_PAIRS = 4_000_000;
/** A line was edited when so much of it stands in the other one; else it is another line. */
const EDITED = 0.6;

/** Lines of the left text, and those of the right one that stand in their place. */
interface Block {
  left: Span;
  right: Span;
}

/** From an index on, until before another. */
export interface Span {
  from: number;
  to: number;
}

/** What differs, as ranges of whole lines. */
export function lineChanges(left: string, right: string): Change[] {
  const [startsA, startsB] = [startsOf(left), startsOf(right)];
  const at = (starts: readonly number[], text: string, line: number) => starts[line] ?? text.length;
  return blocksOf(left, right).map(
    ({ left: a, right: b }) =>
      new Change(
        at(startsA, left, a.from),
        at(startsA, left, a.to),
        at(startsB, right, b.from),
        at(startsB, right, b.to),
      ),
  );
}

/** The parts of lines that were edited, as ranges of either text. */
export function editedParts(left: string, right: string): { left: Span[]; right: Span[] } {
  const [linesA, linesB] = [left.split("\n"), right.split("\n")];
  const [startsA, startsB] = [startsOf(left), startsOf(right)];
  const parts: { left: Span[]; right: Span[] } = { left: [], right: [] };
  for (const { left: a, right: b } of blocksOf(left, right)) {
    if (a.to - a.from !== b.to - b.from) continue;
    for (let line = 0; line < a.to - a.from; line += 1) {
      const [atA, atB] = [startsA[a.from + line] ?? 0, startsB[b.from + line] ?? 0];
      for (const change of edits(linesA[a.from + line] ?? "", linesB[b.from + line] ?? "")) {
        parts.left.push({ from: atA + change.fromA, to: atA + change.toA });
        parts.right.push({ from: atB + change.fromB, to: atB + change.toB });
      }
    }
  }
  return parts;
}

/** What changed in a line; nothing where it is another line altogether. */
function edits(left: string, right: string): readonly Change[] {
  const changes = presentableDiff(left, right);
  const same = left.length - changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0);
  return same >= EDITED * Math.max(left.length, right.length) ? changes : [];
}

/** Where each line begins. */
function startsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The lines that are not of the longest sequence that both texts have in common. */
function blocksOf(left: string, right: string): Block[] {
  const [a, b] = [left.split("\n"), right.split("\n")];
  let before = 0;
  while (before < Math.min(a.length, b.length) && a[before] === b[before]) before += 1;
  let after = 0;
  const most = Math.min(a.length, b.length) - before;
  while (after < most && a[a.length - 1 - after] === b[b.length - 1 - after]) after += 1;
  const shared = commonLines(
    a.slice(before, a.length - after),
    b.slice(before, b.length - after),
  ).map(([one, other]): [number, number] => [one + before, other + before]);
  const blocks: Block[] = [];
  let [nextA, nextB] = [before, before];
  for (const [one, other] of [...shared, [a.length - after, b.length - after] as const]) {
    if (one > nextA || other > nextB) {
      blocks.push({ left: { from: nextA, to: one }, right: { from: nextB, to: other } });
    }
    [nextA, nextB] = [one + 1, other + 1];
  }
  return blocks;
}

/** The longest common sequence of lines, as pairs of their indices. */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MOST_PAIRS) return [];
  const width = b.length + 1;
  // How long the sequence can become from line `i` of one and line `j` of the other on.
  const lengths = new Uint32Array((a.length + 1) * width);
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (length(i + 1, j) >= length(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
