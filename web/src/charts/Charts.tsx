import "./charts.css";

import { signal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";

import type { Chart } from "../api/types";
import { ChartFigure } from "./ChartFigure";
import { type Choice, noteOn, pairs } from "./shown";

interface ChartsProps {
  /** Drawn by the reference; dashed outline and muted. */
  reference: readonly Chart[];
  /** Drawn by the student's own function; with some of them there is the three-way switch. */
  submission: readonly Chart[];
  /** Whether another version of the exercise drew the student's. */
  isOutdated?: boolean;
}

const CHOICES: readonly [Choice, string][] = [
  ["reference", "Reference"],
  ["yours", "Yours"],
  ["both", "Both"],
];

/** What was chosen last, for all charts until the page is loaded again. */
const chosen = signal<Choice>("yours");

/** An experiment's charts: reference, yours, or both over each other; as numbers on request. */
export function Charts({ reference, submission, isOutdated = false }: ChartsProps) {
  const all = useMemo(() => pairs(reference, submission), [reference, submission]);
  const hasBoth = reference.length > 0 && submission.length > 0;
  const choice = hasBoth ? chosen.value : submission.length > 0 ? "yours" : "reference";
  const note = useMemo(() => noteOn(choice, all, isOutdated), [choice, all, isOutdated]);
  return (
    <div class="charts">
      {hasBoth && (
        <div class="chart-choices">
          <Switch choice={choice} />
          <p class="chart-note" role="status">
            {note}
          </p>
        </div>
      )}
      {all.map((pair) => (
        <ChartFigure key={pair.id} pair={pair} choice={choice} />
      ))}
    </div>
  );
}

/** Radio buttons of the browser's own: arrow keys move among them. */
function Switch({ choice }: { choice: Choice }) {
  const group = useId();
  return (
    <fieldset class="chart-switch" role="radiogroup">
      <legend class="visually-hidden">Whose numbers the charts show</legend>
      {CHOICES.map(([value, word]) => (
        <label key={value} class="chart-choice">
          <input
            type="radio"
            class="visually-hidden"
            name={group}
            value={value}
            checked={choice === value}
            onChange={() => {
              chosen.value = value;
            }}
          />
          <span>{word}</span>
        </label>
      ))}
    </fieldset>
  );
}
