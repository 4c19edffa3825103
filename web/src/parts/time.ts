/** Times as people say them; the exact one goes into a title. */

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const WORDS = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 hours ago", when that many whole ones have passed; "just now" below a minute. */
export function relative(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return WORDS.format(Math.trunc(seconds / length), unit);
  }
  return "just now";
}

/** Date and time in the reader's own form. */
export function exact(atMs: number): string {
  return new Date(atMs).toLocaleString();
}

/** "12:03", for what happened today. */
export function clock(atMs: number): string {
  return new Date(atMs).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
