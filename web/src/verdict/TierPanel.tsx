import "./TierPanel.css";

import { useState } from "preact/hooks";

import type { CheckResult, Diagnosis, Frame, ProblemPage } from "../api/types";
import type { JudgingView, TierView } from "../judging/view";
import { counted } from "../parts/amounts";
import { placeOfCheck } from "../parts/checkPlace";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { VERDICTS } from "../parts/verdicts";
import { CheckReport } from "./CheckReport";
import { failingTier, grouped } from "./selection";
import { skipReason, verdictOf } from "./words";

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
      {tier.advisory && <p class="tier-panel-note">{ADVISORY}</p>}
      {failed.map(toTell).map((check, at) => (
        <FailedCheck
          key={`${view.id ?? ""} ${check.id}`}
          check={check}
          tier={tier}
          isFirst={at === 0}
          diagnosis={tier.id === failingTier(view)?.id && at === 0 ? view.diagnosis : []}
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

/** A broken rule is found in the text: the check that happens to tell of it has no part in it. */
const toTell = (check: CheckResult): CheckResult =>
  check.verdict === "RV"
    ? { ...check, title: "Nothing is used that the exercise forbids.", why: "" }
    : check;

const about = (problem: ProblemPage, tier: TierView): string =>
  problem.tiers.find((each) => each.id === tier.id)?.about ?? "";

const ADVISORY = "This tier is advice: it counts neither for the verdict nor for the score.";

interface FailedProps extends Props {
  check: CheckResult;
  isFirst: boolean;
  diagnosis: readonly Diagnosis[];
}

function FailedCheck({ check, isFirst, tier, ...rest }: FailedProps) {
  /** Null until the student has opened or closed it. */
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? isFirst;
  const { tone, short } = verdictOf(check.verdict, tier);
  // What could not be loaded is of no check in particular: what was wrong takes its sentence's place.
  const isUnloaded = check.verdict === "CE" && check.message !== "";
  return (
    <details
      class={`failed-check failed-check-${tone} ${check.verdict === "RE" ? "failed-check-raised" : ""}`}
      data-check={check.id}
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open !== isOpen) setChoice(event.currentTarget.open);
      }}
    >
      <summary>
        <Icon name={tone} />
        <span class="failed-check-word">{short}</span>
        <span class="failed-check-title">
          <Coded text={isUnloaded ? firstLine(check.message) : check.title} />
        </span>
        <Icon name="chevron" />
      </summary>
      {isOpen && <CheckReport check={isUnloaded ? withoutFirstLine(check) : check} {...rest} />}
    </details>
  );
}

const firstLine = (message: string): string => message.split("\n", 1)[0] ?? "";

const withoutFirstLine = (check: CheckResult): CheckResult => ({
  ...check,
  message: check.message.split("\n").slice(1).join("\n"),
});

function BriefChecks({ checks, words }: { checks: readonly CheckResult[]; words: string }) {
  if (checks.length === 0) return null;
  return (
    <section class="brief-checks">
      <h3>{`${counted(checks.length, "check")} ${words}`}</h3>
      <ul>
        {checks.map((check) => (
          <li
            key={check.id}
            class={`brief-check-${VERDICTS[check.verdict].tone}`}
            {...placeOfCheck(check.id)}
          >
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
