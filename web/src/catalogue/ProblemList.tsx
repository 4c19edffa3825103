import "./ProblemList.css";

import type { Ref } from "preact";

import { problemAddress, trackAddress } from "../parts/addresses";
import { Ago } from "../parts/Ago";
import { passRate } from "../parts/amounts";
import { Icon, type IconName } from "../parts/Icon";
import { isNamed } from "../parts/exerciseName";
import {
  countingTiers,
  stateWords,
  tierMarks,
  type Row,
  type TierMark,
  type WorkState,
} from "./rows";

const STATE_ICONS: Record<WorkState, IconName> = {
  untouched: "waiting",
  draft: "draft",
  failed: "fail",
  partly: "partly",
  solved: "pass",
};

const TIER_ICONS: Record<TierMark, IconName> = { passed: "passed", failed: "failed", open: "open" };
const TIER_WORDS: Record<TierMark, string> = {
  passed: "passed",
  failed: "failed",
  open: "not passed yet",
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
  const rates = rows.some(({ problem }) => (problem.pass_rate ?? null) !== null);
  return (
    <ol
      class={`problems ${tracks ? "with-tracks" : ""} ${rates ? "with-rates" : ""}`}
      role="list"
      ref={list}
      onKeyDown={onKey}
    >
      {rows.map((row) => (
        <Entry key={row.problem.slug} row={row} tracks={tracks} rates={rates} nowMs={nowMs} />
      ))}
    </ol>
  );
}

interface EntryProps extends Pick<ProblemListProps, "tracks" | "nowMs"> {
  row: Row;
  /** Whether any row says how many have solved it. */
  rates: boolean;
}

function Entry({ row, tracks, rates, nowMs }: EntryProps) {
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
      <span class="problems-number quiet">{isNamed(problem) ? "" : problem.label}</span>
      <div class="problems-name">
        <a class="problems-title" href={problemAddress(problem.slug)}>
          {problem.title}
        </a>
        <p class="problems-summary quiet">{problem.summary}</p>
      </div>
      <div class="problems-about">
        {tracks && (
          <a class="problems-track" href={trackAddress(problem.track)}>
            {row.trackTitle}
          </a>
        )}
        <Tiers problem={problem} />
      </div>
      {rates && (
        <span class="problems-rate quiet">{problem.pass_rate && passRate(problem.pass_rate)}</span>
      )}
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

/** A dot for each tier that counts; its shape says what its colour does. */
function Tiers({ problem }: { problem: Row["problem"] }) {
  const marks = tierMarks(problem);
  return (
    <span class="problems-tiers">
      {countingTiers(problem).map(({ id, title }, at) => {
        const mark = marks[at] ?? "open";
        return (
          <span
            key={id}
            class={`problems-tier is-${mark}`}
            title={`${id} ${title}: ${TIER_WORDS[mark]}`}
          >
            <Icon name={TIER_ICONS[mark]} />
            <span class="visually-hidden">{`${id} ${TIER_WORDS[mark]}`}</span>
          </span>
        );
      })}
    </span>
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
