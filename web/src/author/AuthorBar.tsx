import "./AuthorBar.css";

import { counted } from "../parts/amounts";
import { Icon } from "../parts/Icon";
import type { Desk } from "./desk";
import { Faults } from "./Faults";
import { stateOf } from "./state";

interface Props {
  desk: Desk;
  /** Show the author's tab; null where there is no exercise to show it for. */
  onProof: (() => void) | null;
}

/** Above the page of an exercise: that this is a preview, how the folder is, and what is wrong. */
export function AuthorBar({ desk, onProof }: Props) {
  const news = desk.news.value;
  const state = stateOf(news, desk.isOpen.value);
  const faults = news?.faults ?? [];
  const isShown = typeof news?.version === "string";
  return (
    <section class="author-bar" aria-label="Author">
      <p class="author-bar-line">
        <b>Preview</b>
        <code class="author-bar-version" title={news?.version ?? undefined}>
          {news?.version?.slice(0, 7) ?? ""}
        </code>
        <span class={`author-bar-state is-${state.tone ?? "open"}`} role="status">
          <Icon name={state.icon} /> {state.words}
        </span>
        {onProof && (
          <button type="button" class="link author-bar-proof" onClick={onProof}>
            Show proof
          </button>
        )}
      </p>
      <div role="alert" class="author-bar-alert">
        {news && faults.length > 0 && (
          <div class="author-bar-faults" tabIndex={0} role="group" aria-label="Faults">
            <h2>{counted(faults.length, "fault")} in the folder</h2>
            <p class="quiet">
              {isShown
                ? "Below is the last valid version. This goes away when the faults are mended."
                : "There is no valid version to show yet. The page appears when the faults are mended."}
            </p>
            <Faults faults={faults} folder={news.folder} />
          </div>
        )}
      </div>
    </section>
  );
}
