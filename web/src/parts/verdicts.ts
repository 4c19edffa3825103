/** Verdicts in words. The short code stands beside them; colour and icon never stand alone. */
import type { Verdict } from "../api/types";

/**
 * How a verdict looks: passed, failed, a limit was broken, not run, our fault, or advice that counts
 * for nothing. Its icon has the same name.
 */
export type Tone = "pass" | "fail" | "limit" | "skip" | "fault" | "advice";

interface VerdictWords {
  words: string;
  /** The same of one tier or check, where there is room for two words. */
  short: string;
  tone: Tone;
}

export const VERDICTS: Record<Verdict, VerdictWords> = {
  AC: { words: "Accepted", short: "passed", tone: "pass" },
  WA: { words: "Wrong answer", short: "failed", tone: "fail" },
  RE: { words: "Runtime error", short: "error", tone: "fail" },
  CE: { words: "Not compiled or imported", short: "not loaded", tone: "fail" },
  TLE: { words: "Time limit exceeded", short: "time limit", tone: "limit" },
  MLE: { words: "Memory limit exceeded", short: "memory limit", tone: "limit" },
  OLE: { words: "Output limit exceeded", short: "output limit", tone: "limit" },
  RV: { words: "A rule of the exercise is broken", short: "rule broken", tone: "fail" },
  SK: { words: "Not run", short: "not run", tone: "skip" },
  JE: { words: "Fault of the judge", short: "our fault", tone: "fault" },
};
