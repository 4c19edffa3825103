/** How much of an exercise's help was revealed in this browser. */
import { remember, remembered } from "../parts/storage";

export type Help = "hints" | "editorial";

const key = (help: Help, slug: string): string => `judge:${help}:${slug}`;

/** How many were revealed, of those that there are. */
export function revealedOf(help: Help, slug: string, count: number): number {
  const kept = Number.parseInt(remembered(key(help, slug)) ?? "0", 10);
  return Number.isNaN(kept) ? 0 : Math.min(Math.max(kept, 0), count);
}

export function keepRevealed(help: Help, slug: string, revealed: number): void {
  remember(key(help, slug), String(revealed));
}
