import "./TierPanel.css";

import { useState } from "preact/hooks";

import type { CheckResult, Diagnosis, Frame, ProblemPage } from "../api/types";
import type { JudgingView, TierView } from "../judging/view";
import { counted } from "../parts/amounts";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { VERDICTS } from "../parts/verdicts";
import { CheckReport } from "./CheckReport";
import { failingTier, firstFailing, grouped } from "./selection";
import { skipReason } from "./words";

interface Props {
  problem: ProblemPage;
  view: JudgingView;
  tier: TierView;
  onReveal: (frame: Frame) => void;
}

/** The checks of one tier: those that failed first, one of them open, then the others in brief. */
export function TierPanel({ problem, view, tier, onReveal }: Props) {
  const { failed, passed, skipped } = grouped(tier.checks);
  return (
    <div
      class="tier-panel"
      role="tabpanel"
      id={`tier-panel-${tier.id}`}
      aria-labelledby={`tier-tab-${tier.id}`}
    >
      {tier.verdict === "SK" && (
        <p class="tier-panel-note">{skipReason(tier, view, problem.tiers)}</p>
      )}
      {tier.checks.length === 0 && tier.verdict === null && (
        <p class="tier-panel-note">
          <Coded text={about(problem, tier)} />
        </p>
      )}
      {failed.map((check) => (
        <FailedCheck
          key={`${view.id ?? ""} ${check.id}`}
          check={check}
          isFirst={check === firstFailing(tier)}
          diagnosis={tier.id === failingTier(view)?.id && check === failed[0] ? view.diagnosis : []}
          problem={problem}
          view={view}
          onReveal={onReveal}
        />
      ))}
      <BriefChecks checks={passed} words="passed" />
      <BriefChecks checks={skipped} words="not run" />
    </div>
  );
}

const about = (problem: ProblemPage, tier: TierView): string =>
  problem.tiers.find((each) => each.id === tier.id)?.about ?? "";

interface FailedProps extends Omit<Props, "tier"> {
  check: CheckResult;
  isFirst: boolean;
  diagnosis: readonly Diagnosis[];
}

function FailedCheck({ check, isFirst, ...rest }: FailedProps) {
  /** Null until the student has opened or closed it. */
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? isFirst;
  const { tone, short } = VERDICTS[check.verdict];
  return (
    <details
      class={`failed-check failed-check-${tone}`}
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open !== isOpen) setChoice(event.currentTarget.open);
      }}
    >
      <summary>
        <Icon name={tone} />
        <span class="failed-check-word">{short}</span>
        <span class="failed-check-title">
          <Coded text={check.title} />
        </span>
        <Icon name="chevron" />
      </summary>
      {isOpen && <CheckReport check={check} {...rest} />}
    </details>
  );
}

function BriefChecks({ checks, words }: { checks: readonly CheckResult[]; words: string }) {
  if (checks.length === 0) return null;
  return (
    <section class="brief-checks">
      <h3>{`${counted(checks.length, "check")} ${words}`}</h3>
      <ul>
        {checks.map((check) => (
          <li key={check.id} class={`brief-check-${VERDICTS[check.verdict].tone}`}>
            <Icon name={VERDICTS[check.verdict].tone} />
            <span>
              <span class="visually-hidden">{`${VERDICTS[check.verdict].short}: `}</span>
              <Coded text={check.title} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
