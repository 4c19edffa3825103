import "./Headline.css";

import type { ComponentChildren } from "preact";

import { isScratch, type JudgingView } from "../judging/view";
import { Icon } from "../parts/Icon";
import { VERDICTS } from "../parts/verdicts";
import { Countdown } from "./Countdown";
import { headline, scratchName } from "./words";

interface Props {
  view: JudgingView;
  /** Which text it is about. */
  children?: ComponentChildren;
}

/** The verdict in words, or how far the submission is. */
export function Headline({ view, children }: Props) {
  const { icon, tone, title, code, facts, explanation } = headline(view);
  return (
    <header class={`headline headline-${tone ?? "none"}`}>
      <p class="headline-line">
        <Icon name={icon} />
        <span class="headline-words">
          <strong class="headline-title">{title}</strong>
          {code && (
            <>
              {"\u00a0"}
              <abbr class="headline-code" title={VERDICTS[code].words}>
                {code}
              </abbr>
            </>
          )}{" "}
          {facts.length > 0 && <span class="headline-facts">{facts.join("\u00a0· ")}</span>}
        </span>
      </p>
      {explanation !== null && (
        <p class="headline-explanation">
          {explanation} <RetryWords view={view} />
        </p>
      )}
      <div class="headline-about">
        {view.kind === "run" && <p class="headline-explanation quiet">{runWords(view)}</p>}
        {children}
      </div>
    </header>
  );
}

const runWords = (view: JudgingView): string =>
  isScratch(view)
    ? `The ${scratchName(view)} after your solution. No checks, not in your history.`
    : "Examples only, not in your history.";

function RetryWords({ view }: { view: JudgingView }) {
  const atMs = view.refusal?.retryAtMs ?? null;
  if (atMs === null) return null;
  return view.phase === "unsent" ? (
    <Countdown
      key={atMs}
      atMs={atMs}
      before={(left) => `Next attempt in ${left} s.`}
      after="Sending."
    />
  ) : (
    <Countdown
      key={atMs}
      atMs={atMs}
      before={(left) => `Next submission in ${left} s.`}
      after="You can send it again now."
    />
  );
}
