/** How far off a check found something to be, as far as its message does not say so. */
import type { Detail } from "../api/types";
import { measure } from "../parts/amounts";

/** "Relative error 0.41." beside a message that names the largest error, its place and the limit. */
export function measured(message: string, detail: Detail | null): string {
  const { max_abs: largest = null, max_rel: relative = null } = detail ?? {};
  const place = detail?.at ? `[${detail.at.join(", ")}]` : null;
  const limit = detail?.limit ?? null;
  const facts = [
    largest !== null && !message.includes("largest error") && `largest error ${measure(largest)}`,
    relative !== null && !message.includes("relative") && `relative error ${measure(relative)}`,
    place !== null && !message.includes(place) && `at ${place}`,
    limit !== null && !message.includes(limit) && `the limit is ${limit}`,
  ].filter((fact) => fact !== false);
  const [first = "", ...more] = facts;
  return first && `${[first.charAt(0).toUpperCase() + first.slice(1), ...more].join(", ")}.`;
}
