import "./Outcomes.css";

import type { CheckResult, Frame } from "../api/types";
import { counted } from "../parts/amounts";
import { OWN_TEST } from "../judging/view";
import { Coded } from "../parts/Coded";
import { Icon, type IconName } from "../parts/Icon";
import { VERDICTS } from "../parts/verdicts";
import { Frames } from "../verdict/Frames";
import { grouped } from "../verdict/selection";
import { shortNames } from "./matrix";

interface Props {
  checks: readonly CheckResult[];
  onReveal: (frame: Frame) => void;
}

/** Each of the student's tests on right solutions: those that fail there with what they said. */
export function Outcomes({ checks, onReveal }: Props) {
  const { failed, passed, skipped } = grouped(checks);
  const count = failed.length + passed.length + skipped.length;
  return (
    <section class="outcomes" aria-labelledby="outcomes-title">
      <h3 id="outcomes-title">On right solutions</h3>
      {count === 0 && (
        <p class="quiet">
          Each of your tests runs here first, several times and on more than one implementation. All
          of them have to pass.
        </p>
      )}
      {failed.map((check) => (
        <Failed key={check.id} check={check} onReveal={onReveal} />
      ))}
      <Brief checks={passed} icon="pass" words="passed" />
      <Brief checks={skipped} icon="skip" words="not run" />
    </section>
  );
}

function Failed({ check, onReveal }: { check: CheckResult; onReveal: (frame: Frame) => void }) {
  const { tone, short } = VERDICTS[check.verdict];
  return (
    <div class={`outcomes-failed outcomes-${tone}`}>
      <p class="outcomes-title">
        <Icon name={tone} />
        <b>{short}</b>
        <span>
          {check.kind === OWN_TEST ? <code>{check.title}</code> : <Coded text={check.title} />}
        </span>
      </p>
      {check.message && <Message check={check} />}
      <Frames frames={check.detail?.frames ?? []} onReveal={onReveal} />
    </div>
  );
}

/** The judge's sentence; below it what the test said, whose columns stand as pytest set them. */
function Message({ check }: { check: CheckResult }) {
  const [sentence = "", ...said] = check.message.split("\n");
  if (check.kind !== OWN_TEST)
    return (
      <p class="outcomes-message">
        <Coded text={check.message} />
      </p>
    );
  return (
    <>
      <p class="outcomes-message">{sentence}</p>
      {said.length > 0 && <pre class="outcomes-said">{said.join("\n")}</pre>}
    </>
  );
}

interface BriefProps {
  checks: readonly CheckResult[];
  icon: IconName;
  words: string;
}

function Brief({ checks, icon, words }: BriefProps) {
  if (checks.length === 0) return null;
  const names = shortNames(checks.map(({ title }) => title));
  return (
    <details class="outcomes-brief">
      <summary>
        <Icon name={icon} /> {counted(checks.length, "test")} {words}
        <Icon name="chevron" />
      </summary>
      <ul>
        {checks.map(({ id }, at) => (
          <li key={id}>
            <code>{names[at]}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
