import "./ProblemList.css";

import type { Ref } from "preact";

import { problemAddress, trackAddress } from "../parts/addresses";
import { Ago } from "../parts/Ago";
import { passRate } from "../parts/amounts";
import { Icon, type IconName } from "../parts/Icon";
import { stateWords, type Row, type WorkState } from "./rows";

const STATE_ICONS: Record<WorkState, IconName> = {
  untouched: "waiting",
  draft: "draft",
  failed: "fail",
  solved: "pass",
};

interface ProblemListProps {
  rows: readonly Row[];
  /** Whether each row names its track. */
  tracks: boolean;
  nowMs: number;
  list: Ref<HTMLOListElement>;
  onKey: (event: KeyboardEvent) => void;
}

/** The exercises, one row each; the whole row is its link. */
export function ProblemList({ rows, tracks, nowMs, list, onKey }: ProblemListProps) {
  return (
    <ol
      class={tracks ? "problems with-tracks" : "problems"}
      role="list"
      ref={list}
      onKeyDown={onKey}
    >
      {rows.map((row) => (
        <Entry key={row.problem.slug} row={row} tracks={tracks} nowMs={nowMs} />
      ))}
    </ol>
  );
}

function Entry({ row, tracks, nowMs }: { row: Row; tracks: boolean; nowMs: number }) {
  const { problem } = row;
  return (
    <li
      class="problems-row"
      onClick={(event) => {
        // What has words of its own on hover lies above the link, and leads there too.
        if (!(event.target instanceof Element) || event.target.closest("a")) return;
        event.currentTarget.querySelector("a")?.click();
      }}
    >
      <span class="problems-number quiet">{problem.number}</span>
      <div class="problems-name">
        <a class="problems-title" href={problemAddress(problem.slug)}>
          {problem.title}
        </a>
        <p class="problems-summary quiet">{problem.summary}</p>
      </div>
      {tracks && (
        <a class="problems-track" href={trackAddress(problem.track)}>
          {row.trackTitle}
        </a>
      )}
      <span class="problems-tiers quiet">
        {problem.tiers.map((tier) => (
          <span key={tier.id} title={tier.title}>
            {tier.id}
          </span>
        ))}
      </span>
      <span class="problems-rate quiet">{problem.pass_rate && passRate(problem.pass_rate)}</span>
      <span class={`problems-state ${row.state}`}>
        <Icon name={STATE_ICONS[row.state]} />
        {stateWords(row)}
      </span>
      <span class="problems-time quiet">
        {row.lastWorkMs !== null && <Ago atMs={row.lastWorkMs} nowMs={nowMs} />}
      </span>
    </li>
  );
}

/** What stands there while the list is on its way; seen only when that takes a while. */
export function ListSkeleton() {
  return (
    <div class="problems-skeleton" aria-busy="true">
      <span class="visually-hidden" role="status">
        The exercises are on their way.
      </span>
      <div class="problems-skeleton-search" />
      {[62, 48, 55, 40, 58].map((width) => (
        <div key={width} class="problems-skeleton-row">
          <div style={{ width: `${width / 2}%` }} />
          <div style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  );
}
