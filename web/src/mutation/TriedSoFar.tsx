import "./TriedSoFar.css";

import type { Tried } from "../judging/view";

/** How many wrong solutions the tests were tried on, while they are graded. */
export function TriedSoFar({ tried }: { tried: Tried | null }) {
  if (tried === null) return null;
  const { total, killed } = tried;
  const done = Object.keys(killed).length;
  const noticed = Object.values(killed).filter(Boolean).length;
  return (
    <div class="tried">
      <p id="tried-words">
        Mutant {done} of {total}, <span class="quiet">{noticed} noticed so far</span>
      </p>
      <div
        class="tried-bar"
        role="progressbar"
        aria-labelledby="tried-words"
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={total}
      >
        <span style={{ width: `${total > 0 ? (done / total) * 100 : 0}%` }} />
      </div>
    </div>
  );
}
