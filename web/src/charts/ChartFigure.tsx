import { useCallback, useId, useMemo, useState } from "preact/hooks";

import { Icon } from "../parts/Icon";
import { Numbers } from "./Numbers";
import { type Failure, Picture } from "./Picture";
import { type Choice, LABELS, type Pair, shown } from "./shown";

const SENTENCES: Record<Failure, string> = {
  undrawable: "This chart cannot be drawn. These are its numbers.",
  unloaded: "The part of the page that draws charts did not arrive. These are the numbers.",
};

/** One chart: its title, whose numbers it shows, the picture, and the numbers on request. */
export function ChartFigure({ pair, choice }: { pair: Pair; choice: Choice }) {
  const { reference, yours } = pair;
  const content = useMemo(() => shown(choice, reference, yours), [choice, reference, yours]);
  const [failed, setFailed] = useState<{ of: unknown; failure: Failure } | null>(null);
  const [open, setOpen] = useState(false);
  const id = useId();
  const specs = content?.specs ?? null;
  const onFailure = useCallback(
    (failure: Failure) => {
      setFailed({ of: specs, failure });
    },
    [specs],
  );
  if (!content) return null;

  const failure = specs === null ? "undrawable" : failed?.of === specs ? failed.failure : null;
  return (
    <figure class={`chart chart-of-${content.choice}`}>
      <figcaption class="chart-head">
        <span class="chart-title">{content.title}</span>
        <span class="chart-source">{LABELS[content.choice]}</span>
        {failure === null && (
          <button
            type="button"
            class="button plain chart-toggle"
            aria-expanded={open}
            aria-controls={id}
            onClick={() => {
              setOpen(!open);
            }}
          >
            <Icon name="chevron" />
            Numbers
          </button>
        )}
      </figcaption>
      {specs && failure === null ? (
        <Picture specs={specs} label={content.description} onFailure={onFailure} />
      ) : (
        failure && <p class="chart-failure">{SENTENCES[failure]}</p>
      )}
      <div id={id} class="chart-tables" hidden={!open && failure === null}>
        {(open || failure !== null) &&
          content.tables.map((table) => <Numbers key={table.caption} {...table} />)}
      </div>
    </figure>
  );
}
