import "./Score.css";

import { percent } from "../parts/amounts";

/** A score as a bar, with the threshold drawn on it. Both are 0 to 1. */
export function Score({ score, threshold }: { score: number; threshold: number }) {
  const isEnough = score >= threshold;
  return (
    <div
      class={`score ${isEnough ? "is-enough" : "is-short"}`}
      role="img"
      aria-label={`Score ${percent(score)}, ${percent(threshold)} needed`}
    >
      <span class="score-value">{percent(score)}</span>
      <span class="score-bar">
        <span class="score-track">
          <span class="score-fill" style={{ width: `${score * 100}%` }} />
        </span>
        <span class="score-threshold" style={{ left: `${threshold * 100}%` }}>
          <span class="score-needed">{percent(threshold)} needed</span>
        </span>
      </span>
    </div>
  );
}
