import "./TimesTable.css";

import { useMemo } from "preact/hooks";

import type { CheckTime } from "../api/types";
import { Icon } from "../parts/Icon";
import { breakable, testName } from "../parts/names";
import { byTier, shortTime, type TierTime } from "./numbers";

interface Props {
  times: readonly CheckTime[];
  /** What a tier may take. */
  wallMs: number;
  /** How many times what the reference takes that is at least. */
  factor: number;
}

/** What the reference takes of each tier's limit, check by check. */
export function TimesTable({ times, wallMs, factor }: Props) {
  const tiers = useMemo(() => byTier(times), [times]);
  if (tiers.length === 0) return null;
  return (
    <section class="author-part" aria-labelledby="author-times">
      <h3 id="author-times">Times of the reference</h3>
      <p class="author-sum">
        Medians, against the {shortTime(wallMs)} that a tier may take. That should be {factor} times
        as long, or more: the mark.
      </p>
      {tiers.map((tier) => (
        <Tier key={tier.tier} tier={tier} wallMs={wallMs} fairMs={wallMs / factor} />
      ))}
    </section>
  );
}

interface Scale {
  wallMs: number;
  /** The most that the reference is to take. */
  fairMs: number;
}

function Tier({ tier, ...scale }: Scale & { tier: TierTime }) {
  const isFair = tier.medianMs <= scale.fairMs;
  return (
    <details class="times">
      <summary>
        <Icon name="chevron" />
        <b>{tier.tier}</b>
        <Bar ms={tier.medianMs} {...scale} />
        <span class={isFair ? undefined : "times-slow"}>
          {shortTime(tier.medianMs)}
          {!isFair && ", too near"}
        </span>
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col">Median</th>
            <th scope="col">Longest</th>
          </tr>
        </thead>
        <tbody>
          {tier.checks.map(({ check, median_ms: median, longest_ms: longest }) => (
            <tr key={check}>
              <th scope="row">
                <code title={check}>{breakable(testName(check).replace(/^test_/, ""))}</code>
              </th>
              <td>{shortTime(median)}</td>
              <td>{shortTime(longest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Bar({ ms, wallMs, fairMs }: Scale & { ms: number }) {
  return (
    <span class="times-bar" aria-hidden="true">
      <span style={{ width: `${Math.min(100, (ms / wallMs) * 100)}%` }} />
      <span class="times-mark" style={{ left: `${(fairMs / wallMs) * 100}%` }} />
    </span>
  );
}
