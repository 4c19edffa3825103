/**
 * Where the exercises of a dependency picture stand.
 *
 * An exercise stands one column to the right of the last of what it needs (longest path). An arrow
 * that passes columns gets a slot of its own in each, so that it never runs through an exercise.
 * Within a column, slots are ordered by the mean height of their neighbours, which untangles most
 * crossings. Needs that are unknown, doubled or close a circle are not drawn.
 */

export interface GraphNode {
  slug: string;
  needs: readonly string[];
}

/** The upper left corner of an exercise. */
export interface Place {
  slug: string;
  x: number;
  y: number;
}

/** An arrow, as the `d` of an SVG path. */
export interface Arrow {
  from: string;
  to: string;
  path: string;
}

/** In CSS pixels; places by column, each from top to bottom. */
export interface Layout {
  width: number;
  height: number;
  places: Place[];
  arrows: Arrow[];
}

export const NODE_WIDTH = 176;
export const NODE_HEIGHT = 56;
const COLUMN_GAP = 48;
const ROW_GAP = 12;
const BEND_HEIGHT = 8;
const SWEEPS = 4;
const ARROW_HEAD = 5;

interface Slot {
  /** Null where an arrow passes the column. */
  slug: string | null;
  column: number;
  height: number;
  top: number;
  left: Slot[];
  right: Slot[];
}

interface Line {
  from: string;
  to: string;
  slots: Slot[];
}

export function layOut(nodes: readonly GraphNode[]): Layout {
  const needs = knownNeeds(nodes);
  const columnOf = columns(needs);
  const { slots, lines } = connect(needs, columnOf);
  const height = stackAll(slots);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const order = sweep % 2 === 0 ? slots : slots.toReversed();
    for (const column of order) untangle(column, sweep % 2 === 0 ? "left" : "right", height);
  }
  return {
    width: Math.max(0, slots.length * (NODE_WIDTH + COLUMN_GAP) - COLUMN_GAP),
    height,
    places: slots
      .flat()
      .flatMap(({ slug, column, top }) =>
        slug === null ? [] : [{ slug, x: leftEdge(column), y: top }],
      ),
    arrows: lines.map(({ from, to, slots: along }) => ({ from, to, path: curve(along) })),
  };
}

/** What each exercise needs, of those that are drawn. */
function knownNeeds(nodes: readonly GraphNode[]): Map<string, Set<string>> {
  const known = new Set(nodes.map((node) => node.slug));
  return new Map(
    nodes.map(({ slug, needs }) => [
      slug,
      new Set(needs.filter((need) => need !== slug && known.has(need))),
    ]),
  );
}

/** The column of each exercise. Where a circle leaves nobody free, the first of those left goes. */
function columns(needs: ReadonlyMap<string, ReadonlySet<string>>): Map<string, number> {
  const users = usersOf(needs);
  const open = new Map([...needs].map(([slug, its]) => [slug, its.size]));
  const columnOf = new Map([...needs.keys()].map((slug) => [slug, 0]));
  const free = [...needs.keys()].filter((slug) => open.get(slug) === 0);
  const placed = new Set<string>();
  for (const first of [...needs.keys(), null]) {
    for (let slug = free.shift(); slug !== undefined; slug = free.shift()) {
      placed.add(slug);
      for (const user of users.get(slug) ?? []) {
        if (placed.has(user)) continue;
        columnOf.set(user, Math.max(columnOf.get(user) ?? 0, (columnOf.get(slug) ?? 0) + 1));
        open.set(user, (open.get(user) ?? 0) - 1);
        if (open.get(user) === 0) free.push(user);
      }
    }
    if (first !== null && !placed.has(first)) free.push(first);
  }
  return columnOf;
}

function usersOf(needs: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const users = new Map<string, string[]>([...needs.keys()].map((slug) => [slug, []]));
  for (const [slug, its] of needs) {
    for (const need of its) users.get(need)?.push(slug);
  }
  return users;
}

/** Slots by column, and the slots that each arrow touches on its way. */
function connect(
  needs: ReadonlyMap<string, ReadonlySet<string>>,
  columnOf: ReadonlyMap<string, number>,
): { slots: Slot[][]; lines: Line[] } {
  const slots: Slot[][] = [];
  const add = (slug: string | null, column: number): Slot => {
    const height = slug === null ? BEND_HEIGHT : NODE_HEIGHT;
    const slot = { slug, column, height, top: 0, left: [], right: [] };
    (slots[column] ??= []).push(slot);
    return slot;
  };
  const order = [...columnOf].sort(([, a], [, b]) => a - b);
  const nodes = new Map(order.map(([slug, column]) => [slug, add(slug, column)]));

  const lines: Line[] = [];
  for (const [to, its] of needs) {
    for (const from of its) {
      const start = nodes.get(from);
      const end = nodes.get(to);
      if (!start || !end || start.column >= end.column) continue;
      const along = [start];
      for (let column = start.column + 1; column < end.column; column++) {
        along.push(add(null, column));
      }
      along.push(end);
      along.forEach((slot, index) => {
        slot.left.push(...along.slice(Math.max(0, index - 1), index));
        slot.right.push(...along.slice(index + 1, index + 2));
      });
      lines.push({ from, to, slots: along });
    }
  }
  return { slots, lines };
}

/** Stack every column around the middle of the highest, whose height is the answer. */
function stackAll(slots: readonly Slot[][]): number {
  const height = Math.max(0, ...slots.map(columnHeight));
  for (const column of slots) stack(column, height);
  return height;
}

function columnHeight(column: readonly Slot[]): number {
  return column.reduce((sum, slot) => sum + slot.height + ROW_GAP, -ROW_GAP);
}

function stack(column: readonly Slot[], height: number): void {
  let top = (height - columnHeight(column)) / 2;
  for (const slot of column) {
    slot.top = top;
    top += slot.height + ROW_GAP;
  }
}

/** Order a column by where its neighbours on one side are; slots without any stay where they are. */
function untangle(column: Slot[], side: "left" | "right", height: number): void {
  const wanted = new Map(
    column.map((slot) => {
      const middles = slot[side].map(middle);
      const sum = middles.reduce((total, each) => total + each, 0);
      return [slot, middles.length > 0 ? sum / middles.length : middle(slot)];
    }),
  );
  column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
  stack(column, height);
}

const middle = (slot: Slot): number => slot.top + slot.height / 2;
const leftEdge = (column: number): number => column * (NODE_WIDTH + COLUMN_GAP);

/** From the right edge of the first slot, straight through those between, to a head at the last. */
function curve(along: readonly Slot[]): string {
  const parts: string[] = [];
  along.forEach((slot, index) => {
    const y = middle(slot);
    const x = leftEdge(slot.column);
    const before = along[index - 1];
    if (before) {
      const bend = x - COLUMN_GAP / 2;
      parts.push(`C${bend} ${middle(before)} ${bend} ${y} ${x} ${y}`);
    } else {
      parts.push(`M${x + NODE_WIDTH} ${y}`);
    }
    if (before && index < along.length - 1) parts.push(`H${x + NODE_WIDTH}`);
    if (index === along.length - 1) {
      parts.push(
        `m${-ARROW_HEAD} ${-ARROW_HEAD}l${ARROW_HEAD} ${ARROW_HEAD}l${-ARROW_HEAD} ${ARROW_HEAD}`,
      );
    }
  });
  return parts.join("");
}
