/** Amounts as people read them. */

/** "0.34 s" below ten seconds, "12 s" above. */
export const seconds = (ms: number): string =>
  `${ms < 10_000 ? (ms / 1000).toFixed(2) : Math.round(ms / 1000)} s`;

/** "about 20 s", for what nobody knows exactly. */
export function roughly(ms: number): string {
  const whole = Math.max(1, Math.round(ms / 1000));
  if (whole < 10) return `about ${whole} s`;
  if (whole < 90) return `about ${Math.round(whole / 10) * 10} s`;
  return `about ${Math.round(whole / 60)} min`;
}

/** A score from 0 to 1; 100 % is said of nothing less. */
export const percent = (score: number): string =>
  `${score < 1 ? Math.min(99, Math.round(score * 100)) : 100} %`;

const UNITS = ["bytes", "KiB", "MiB", "GiB"];

/** "512 MiB". */
export function bytes(count: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && count >= 1024 ** (power + 1)) power += 1;
  const amount = count / 1024 ** power;
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)} ${UNITS[power] ?? ""}`;
}

/** "7 of 12 students solved it". */
export const passRate = ({ tried, solved }: { tried: number; solved: number }): string =>
  `${solved} of ${counted(tried, "student")} solved it`;

/** "1 check", "3 checks". */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Three digits of a measured error; "NaN" and "Infinity" come as words. */
export const measure = (value: number | string): string =>
  typeof value === "number" ? String(Number(value.toPrecision(3))) : value;
