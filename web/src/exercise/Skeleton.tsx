/** The exercise page before the exercise, and in place of one that is not to be had. */
import "./Skeleton.css";

import { usePanes } from "./usePanes";

/** The panes, empty and where they will be. */
export function Skeleton() {
  const { columns, rows } = usePanes();
  return (
    <div class="exercise" aria-busy="true">
      <p class="visually-hidden" role="status">
        Loading the exercise
      </p>
      <div class="exercise-panes" style={{ "--left": columns.share, "--top": rows.share }}>
        <div class="exercise-reading">
          <div class="exercise-tabs" />
          <div class="skeleton-text" />
        </div>
        <div class="skeleton-line" />
        <div class="exercise-work">
          <div class="exercise-code skeleton-code" />
          <div class="skeleton-line" />
          <div class="exercise-results" />
        </div>
      </div>
    </div>
  );
}

export function Unknown() {
  return (
    <div class="page-words">
      <h1>There is no exercise of this name</h1>
      <p>It may have been renamed, or taken out of the catalogue.</p>
      <a href="/">All exercises</a>
    </div>
  );
}

export function Away({ sentence, onRetry }: { sentence: string; onRetry: () => void }) {
  return (
    <div class="page-words">
      <h1>The exercise cannot be loaded now</h1>
      <p role="status">{sentence} It is asked again every few seconds. Your draft is kept.</p>
      <button type="button" class="button" onClick={onRetry}>
        Ask now
      </button>
      <a href="/">All exercises</a>
    </div>
  );
}
