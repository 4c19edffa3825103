/** Numbers of an exercise as words. */
import type { Limits, ProblemPage } from "../api/types";

const KIB = 1024;
const MIB = KIB * KIB;
const GIB = KIB * MIB;

/** "512 MiB", "1.5 GiB". */
export function size(bytes: number): string {
  if (bytes >= GIB) return `${trimmed(bytes / GIB)} GiB`;
  if (bytes >= MIB) return `${trimmed(bytes / MIB)} MiB`;
  if (bytes >= KIB) return `${trimmed(bytes / KIB)} KiB`;
  return `${bytes} bytes`;
}

/** What a solution has to get by with, the limits that are met in practice. */
export function limitsInWords(limits: Limits): string {
  return `${trimmed(limits.wall_s)} s for each tier, ${size(limits.memory_bytes)} of memory`;
}

/** All limits, a sentence each. */
export function allLimits(limits: Limits): string[] {
  return [
    `Each tier may take ${trimmed(limits.wall_s)} s.`,
    `All of them together may use ${trimmed(limits.cpu_s)} s of processor time and ` +
      `${size(limits.memory_bytes)} of memory.`,
    `What is printed may be ${size(limits.output_bytes)} long, ` +
      `the files ${size(limits.source_bytes)} together.`,
  ];
}

/** "Solved by 12 of 40 who tried"; null while too few have tried. */
export function passRateInWords(rate: ProblemPage["pass_rate"]): string | null {
  return rate === null ? null : `solved by ${rate.solved} of ${rate.tried} who tried`;
}

/** "1 check", "8 checks". */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

const trimmed = (value: number): string => String(Math.round(value * 10) / 10);
