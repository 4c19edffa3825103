/** How long to wait before the next attempt, when nobody answers. */

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/**
 * Twice as long each time, up to half a minute. `chance` from 0 to 1 takes up to a quarter off, so
 * that a server that comes back is not asked by everybody at once.
 */
export function delayMs(attempt: number, chance: number = Math.random()): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(whole * (1 - chance / 4));
}
