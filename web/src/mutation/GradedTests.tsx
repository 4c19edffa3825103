import "./GradedTests.css";

import type { ComponentChildren } from "preact";

import type { CheckResult, Frame } from "../api/types";
import { type JudgingView, OWN_TEST, OWN_TESTS } from "../judging/view";
import { isFailing } from "../verdict/selection";
import { Score } from "./Score";
import { demands } from "./matrix";
import { MatrixTable } from "./MatrixTable";
import { Mutants } from "./Mutants";
import { Icon } from "../parts/Icon";
import { Outcomes } from "./Outcomes";
import { TriedSoFar } from "./TriedSoFar";

interface Props {
  view: JudgingView;
  onReveal: (frame: Frame) => void;
  /** What follows from their grade. */
  children: ComponentChildren;
}

/** A student's own tests, judged: on right solutions, then on wrong ones. */
export function GradedTests({ view, onReveal, children }: Props) {
  const { mutation } = view;
  const tier = view.tiers.find(({ id }) => id === OWN_TESTS.id);
  // What is said of all tests together is told below, once they have a grade.
  const isTold = (check: CheckResult) =>
    check.kind === OWN_TEST || (mutation === null && isFailing(check.verdict));
  const checks = tier?.checks.filter(isTold) ?? [];
  return (
    <div class="graded-tests">
      <Outcomes checks={checks} onReveal={onReveal} />
      {children}
      {view.phase !== "finished" && <TriedSoFar tried={view.tried} />}
      {mutation && mutation.mutants.length > 0 && (
        <section class="graded-tests-part" aria-labelledby="graded-tests-mutants">
          <h3 id="graded-tests-mutants">On wrong solutions</h3>
          <Score score={mutation.score} threshold={mutation.threshold} />
          <ul class="graded-tests-demands">
            {demands(mutation).map(({ isMet, words }) => (
              <li key={words} class={isMet ? "is-met" : "is-missed"}>
                <Icon name={isMet ? "pass" : "fail"} />
                <span>
                  <span class="visually-hidden">{isMet ? "Met: " : "Not met: "}</span>
                  {words}
                </span>
              </li>
            ))}
          </ul>
          <MatrixTable mutation={mutation} />
          <Mutants mutation={mutation} />
        </section>
      )}
    </div>
  );
}
