import { Icon } from "../parts/Icon";
import { ALT, ariaShortcut, shortcut } from "../parts/platform";
import { clock, exact, relative } from "../parts/time";
import type { Kept } from "./drafts";
import { KEYS, type Keys, isKeys } from "./keys";
import type { Tab } from "./tabs";

interface BarProps {
  tab: Tab;
  busy: boolean;
  keys: Keys;
  kept: Kept | null;
  onRun: () => void;
  onSubmit: () => void;
  /** Null where the exercise takes no tests of the student's own. */
  onGrade: (() => void) | null;
  onFormat: () => void;
  onReset: () => void;
  onKeys: (keys: Keys) => void;
}

/** The buttons below the editor, and the note of when the draft was kept. */
export function Bar(props: BarProps) {
  const { tab, busy, keys, kept } = props;
  const readOnly = tab.kind === "provided";
  const isOfTests = tab.kind === "tests" && props.onGrade !== null;
  return (
    <div
      class={props.onGrade ? "editor-bar has-grade" : "editor-bar"}
      role="group"
      aria-label="Actions"
    >
      <Action
        onClick={props.onRun}
        waits={busy}
        shortcut={["Enter"]}
        title={tab.kind === "scratch" ? "Run your code, then this tab" : "Run the examples only"}
      >
        <Icon name="play" />
        Run <kbd>{shortcut("⏎")}</kbd>
      </Action>
      <Action
        onClick={props.onSubmit}
        waits={busy}
        shortcut={["Shift", "Enter"]}
        primary={!isOfTests}
        wide
      >
        <Icon name="send" />
        Submit <kbd>{shortcut("⇧", "⏎")}</kbd>
      </Action>
      {props.onGrade && (
        <Action
          onClick={props.onGrade}
          waits={busy}
          shortcut={["Alt", "Enter"]}
          title="Run your own tests on right and on wrong solutions"
          primary={isOfTests}
        >
          <Icon name="results" />
          Grade tests <kbd>{shortcut(ALT, "⏎")}</kbd>
        </Action>
      )}
      <Action onClick={props.onFormat} waits={readOnly} shortcut={["S"]} plain>
        Format <kbd>{shortcut("S")}</kbd>
      </Action>
      <Action onClick={props.onReset} waits={readOnly} plain>
        <span>
          Reset<span class="editor-wide"> to starter</span>
        </span>
      </Action>
      <KeysMenu keys={keys} onKeys={props.onKeys} />
      <KeptNote kept={kept} />
    </div>
  );
}

interface ActionProps {
  onClick: () => void;
  /** It cannot be used now. It stays where it is and can have the focus, so that nothing jumps. */
  waits: boolean;
  shortcut?: readonly string[];
  title?: string;
  primary?: boolean;
  plain?: boolean;
  /** Left out on a narrow page, whose bottom edge has it. */
  wide?: boolean;
  children: preact.ComponentChildren;
}

function Action({
  onClick,
  waits,
  shortcut: keys,
  title,
  primary,
  plain,
  wide,
  children,
}: ActionProps) {
  const kind = `${primary ? "primary" : plain ? "plain" : ""} ${wide ? "editor-wide" : ""}`;
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-disabled={waits}
      aria-keyshortcuts={keys && ariaShortcut(...keys)}
      title={title}
      onClick={() => {
        if (!waits) onClick();
      }}
    >
      {children}
    </button>
  );
}

function KeysMenu({ keys, onKeys }: { keys: Keys; onKeys: (keys: Keys) => void }) {
  return (
    <label class="editor-keys">
      <Icon name="keys" />
      <span class="visually-hidden">Keys that edit</span>
      <select
        value={keys}
        onChange={({ currentTarget: { value } }) => {
          if (isKeys(value)) onKeys(value);
        }}
      >
        {Object.entries(KEYS).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

const NOT_KEPT = {
  full: "not kept: this browser’s storage is full",
  closed: "not kept: this browser stores nothing for this page",
};

function KeptNote({ kept }: { kept: Kept | null }) {
  if (kept?.kind === "saved") {
    const today = new Date(kept.atMs).toDateString() === new Date().toDateString();
    return (
      <p class="editor-kept quiet" title={exact(kept.atMs)}>
        saved {today ? clock(kept.atMs) : relative(kept.atMs, Date.now())}
      </p>
    );
  }
  // Keeping is the rule and not announced; only that it failed is.
  return (
    <p class="editor-kept editor-unkept" role="status">
      {kept && NOT_KEPT[kept.kind]}
    </p>
  );
}
