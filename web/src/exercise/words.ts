/** The limits of an exercise as words. */
import type { Limits } from "../api/types";
import { bytes } from "../parts/amounts";

/** What a solution has to get by with, the limits that are met in practice. */
export function limitsInWords(limits: Limits): string {
  return `${trimmed(limits.wall_s)} s for each tier, ${bytes(limits.memory_bytes)} of memory`;
}

/** All limits, a sentence each. */
export function allLimits(limits: Limits): string[] {
  return [
    `Each tier may take ${trimmed(limits.wall_s)} s.`,
    `All of them together may use ${trimmed(limits.cpu_s)} s of processor time and ` +
      `${bytes(limits.memory_bytes)} of memory.`,
    `What is printed may be ${bytes(limits.output_bytes)} long, ` +
      `the files ${bytes(limits.source_bytes)} together.`,
  ];
}

const trimmed = (value: number): string => String(Math.round(value * 10) / 10);
