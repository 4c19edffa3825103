import "./Takeaways.css";

import type { CheckToPass, Takeaway } from "../api/types";
import { isCaseOf } from "../parts/checkPlace";
import { Coded } from "../parts/Coded";
import { breakable, testName } from "../parts/names";

interface Props {
  takeaways: readonly Takeaway[];
  /** All checks of the exercise; empty until a worker has read them. */
  checks: readonly CheckToPass[];
  onCheck: (check: string) => void;
}

/** What stays when the rest is forgotten, each with the checks that show it. */
export function Takeaways({ takeaways, checks, onCheck }: Props) {
  if (takeaways.length === 0) return null;
  return (
    <section class="takeaways" aria-labelledby="takeaways-title">
      <h2 id="takeaways-title">What you take away</h2>
      <ol>
        {takeaways.map((takeaway) => (
          <li key={takeaway.text}>
            <Coded text={takeaway.text} />
            {takeaway.checks.length > 0 && (
              <span class="takeaways-checks">
                <span class="quiet">shown by </span>
                {takeaway.checks.map((check, at) => (
                  <span key={check}>
                    {at > 0 && ", "}
                    <CheckLink
                      check={check}
                      isKnown={checks.some(({ id }) => isCaseOf(id, check))}
                      onCheck={onCheck}
                    />
                  </span>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface LinkProps {
  check: string;
  isKnown: boolean;
  onCheck: (check: string) => void;
}

function CheckLink({ check, isKnown, onCheck }: LinkProps) {
  const name = breakable(testName(check));
  if (!isKnown) return <code>{name}</code>;
  return (
    <button
      type="button"
      class="takeaways-check"
      title="Go to this check"
      onClick={() => {
        onCheck(check);
      }}
    >
      {name}
    </button>
  );
}
