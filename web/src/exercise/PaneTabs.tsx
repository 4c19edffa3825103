import "./PaneTabs.css";

import { Icon, type IconName } from "../parts/Icon";
import { Tabs } from "../parts/Tabs";
import type { ResultState } from "./resultState";

export type PaneName = "statement" | "code" | "results";

interface Props {
  active: PaneName;
  state: ResultState | null;
  busy: boolean;
  onSelect: (pane: PaneName) => void;
  onSubmit: () => void;
}

/** The bottom edge of a narrow page: one pane at a time, and Submit under the thumb. */
export function PaneTabs({ active, state, busy, onSelect, onSubmit }: Props) {
  return (
    <div class="pane-tabs">
      <Tabs
        name="pane"
        label="Panes"
        class="pane-tabs-list"
        tabs={[
          { id: "statement", label: <Face icon="statement" words="Statement" /> },
          { id: "code", label: <Face icon="code" words="Code" /> },
          { id: "results", label: <ResultsFace state={state} /> },
        ]}
        active={active}
        onSelect={onSelect}
      />
      {/* On a narrow page this is the only one; the bar of the editor leaves its own out. */}
      <button type="button" class="button primary" disabled={busy} onClick={onSubmit}>
        <Icon name="send" /> Submit
      </button>
    </div>
  );
}

function Face({ icon, words }: { icon: IconName; words: string }) {
  return (
    <>
      <Icon name={icon} />
      <span>{words}</span>
    </>
  );
}

function ResultsFace({ state }: { state: ResultState | null }) {
  if (state === null) return <Face icon="results" words="Results" />;
  return (
    <span class={`pane-tabs-state is-${state.tone ?? "open"}`}>
      <Icon name={state.icon} />
      <span class="visually-hidden">Results: </span>
      <span>{state.words}</span>
    </span>
  );
}
