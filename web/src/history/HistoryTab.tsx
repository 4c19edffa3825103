import "./HistoryTab.css";

import { useRef, useState } from "preact/hooks";

import { getFiles, getSolution } from "../api/http";
import type { History, HistoryEntry, ProblemPage } from "../api/types";
import { Ago, useNow } from "../parts/Ago";
import { percent, seconds } from "../parts/amounts";
import { Icon } from "../parts/Icon";
import { relative } from "../parts/time";
import { sentenceOf } from "../parts/useLoaded";
import { choose, EDITOR, leftToRight, REFERENCE, type Version } from "./comparing";
import { Comparison } from "./Comparison";
import { entryWords, newestAccepted } from "./entries";
import { useHistory, type HistoryParts } from "./useHistory";

interface HistoryTabProps {
  problem: ProblemPage;
  /** Grows when a submission has finished: read the history again. */
  finished: number;
  /** The submission the results pane shows. */
  openId: string | null;
  /** The text in the editor, to compare with. */
  current: () => Record<string, string>;
  onOpen: (id: string) => void;
  onRestore: (files: Record<string, string>) => void;
}

/** Earlier submissions: open, compare two, restore; after solving, one's own against the reference. */
export function HistoryTab(props: HistoryTabProps) {
  const history = useHistory(props.problem.slug, props.finished, props.openId);
  const { value, trouble, reload } = history;
  if (value === null) return <Unread trouble={trouble} reload={reload} />;
  return (
    <div class="history">
      {trouble !== null && <p class="history-trouble">{trouble} The list is as it was before.</p>}
      {value.submissions.length === 0 ? (
        <p class="quiet">
          Nothing was submitted yet. Every submission is kept here with its verdict, to be opened,
          compared and restored. Runs are not.
        </p>
      ) : (
        <Submissions {...props} shown={value} />
      )}
      <More history={history} />
    </div>
  );
}

/** The list, and what is done with marked ones. */
function Submissions(props: HistoryTabProps & { shown: History }) {
  const { problem, openId, current, onOpen, onRestore, shown } = props;
  const nowMs = useNow();
  const [chosen, setChosen] = useState<string[]>([]);
  const [compared, setCompared] = useState<Compared | null>(null);
  const [note, setNote] = useState<Note>(NO_NOTE);
  const filesOf = useFiles();

  const entries = shown.submissions;
  const solved = problem.progress.state === "solved" || newestAccepted(shown) !== null;

  const version = async (id: string): Promise<Version> => {
    if (id === EDITOR) return { title: "In the editor", files: current() };
    if (id === REFERENCE) {
      return { title: "The reference", files: (await getSolution(problem.slug)).files };
    }
    const entry = entries.find((each) => each.id === id);
    return { title: entry ? titleOf(entry, problem, nowMs) : id, files: await filesOf(id) };
  };
  /** What it did, or why it could not, is said where it was asked for: in a row, or at the bar. */
  const attempt = (at: string | null, action: () => Promise<string>) => {
    setNote(NO_NOTE);
    action().then(
      (words) => {
        setNote({ at, words });
      },
      (error: unknown) => {
        setNote({ at, words: sentenceOf(error) });
      },
    );
  };
  const compare = () => {
    attempt(null, async () => {
      const ids = entries.map(({ id }) => id);
      const [left, right] = await Promise.all(leftToRight(chosen, ids).map(version));
      if (left && right) setCompared({ left, right });
      return "";
    });
  };
  const restore = (id: string) => {
    attempt(id, async () => {
      onRestore(await filesOf(id));
      return "It is in the editor now. Undo there brings back what it replaced.";
    });
  };
  const toggle = (id: string) => {
    setChosen(choose(chosen, id));
  };

  return (
    <>
      <CompareBar chosen={chosen} solved={solved} onToggle={toggle} onCompare={compare} />
      <p class="history-note" role="status">
        {note.at === null && note.words}
      </p>
      <ol class="history-list" role="list" aria-label="Submissions, newest first">
        {entries.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            problem={problem}
            nowMs={nowMs}
            open={entry.id === openId}
            chosen={chosen.includes(entry.id)}
            note={note.at === entry.id ? note.words : ""}
            onToggle={toggle}
            onOpen={onOpen}
            onRestore={restore}
          />
        ))}
      </ol>
      {compared && (
        <Comparison
          {...compared}
          onClose={() => {
            setCompared(null);
          }}
        />
      )}
    </>
  );
}

interface Note {
  /** The submission whose row says it; null at the bar. */
  at: string | null;
  words: string;
}

const NO_NOTE: Note = { at: null, words: "" };

interface Compared {
  left: Version;
  right: Version;
}

/** What was submitted, by id; it never changes, so that it is fetched once. */
function useFiles(): (id: string) => Promise<Record<string, string>> {
  const known = useRef(new Map<string, Record<string, string>>());
  return async (id) => {
    const files = known.current.get(id) ?? (await getFiles(id));
    known.current.set(id, files);
    return files;
  };
}

const CHOSEN_WORDS: Record<number, string> = {
  0: "Choose two submissions to compare.",
  1: "Choose one more.",
};

interface CompareBarProps {
  chosen: readonly string[];
  /** The reference is offered once the exercise is solved. */
  solved: boolean;
  onToggle: (id: string) => void;
  onCompare: () => void;
}

function CompareBar({ chosen, solved, onToggle, onCompare }: CompareBarProps) {
  return (
    <div class="history-bar" role="group" aria-label="Compare">
      <Chooser id={EDITOR} label="Text in the editor" chosen={chosen} onToggle={onToggle} />
      {solved && (
        <Chooser id={REFERENCE} label="The reference" chosen={chosen} onToggle={onToggle} />
      )}
      <button type="button" class="button" disabled={chosen.length < 2} onClick={onCompare}>
        Compare
      </button>
      <p class="history-hint quiet">{CHOSEN_WORDS[chosen.length]}</p>
    </div>
  );
}

/** Leads on to what was submitted before. */
function More({ history }: { history: HistoryParts }) {
  if ((history.value?.next ?? null) === null) return null;
  return (
    <>
      {history.moreTrouble !== null && (
        <p class="history-trouble" role="alert">
          {history.moreTrouble}
        </p>
      )}
      <button type="button" class="button" aria-busy={history.loadingMore} onClick={history.more}>
        {history.loadingMore ? "Loading" : "Show more"}
      </button>
    </>
  );
}

function titleOf(entry: HistoryEntry, problem: ProblemPage, nowMs: number): string {
  const { words, tier } = entryWords(entry, problem.tiers);
  const ending = tier === "" ? words : `${words} ${tier}`;
  return `${ending}, ${relative(Date.parse(entry.created_at), nowMs)}`;
}

/** Before the first answer: nothing for a moment, or why there is none. */
function Unread({ trouble, reload }: { trouble: string | null; reload: () => void }) {
  if (trouble === null) {
    return (
      <p class="history history-waiting quiet" role="status">
        Your submissions are on their way.
      </p>
    );
  }
  return (
    <div class="history" role="alert">
      <p>{trouble}</p>
      <button type="button" class="button" onClick={reload}>
        Try again
      </button>
    </div>
  );
}

interface ChooserProps {
  id: string;
  label: string;
  chosen: readonly string[];
  onToggle: (id: string) => void;
}

function Chooser({ id, label, chosen, onToggle }: ChooserProps) {
  return (
    <label class="history-chooser">
      <input
        type="checkbox"
        checked={chosen.includes(id)}
        onChange={() => {
          onToggle(id);
        }}
      />
      {label}
    </label>
  );
}

interface EntryProps {
  entry: HistoryEntry;
  problem: ProblemPage;
  nowMs: number;
  open: boolean;
  chosen: boolean;
  /** What became of what was last done with it. */
  note: string;
  onToggle: (id: string) => void;
  onOpen: (id: string) => void;
  onRestore: (id: string) => void;
}

/** A fault of ours has no score. */
const isScored = (entry: HistoryEntry): entry is HistoryEntry & { score: number } =>
  entry.score !== null && entry.verdict !== null && entry.verdict !== "JE";

function Entry(props: EntryProps) {
  const { entry, problem, nowMs, open, chosen, note, onToggle, onOpen, onRestore } = props;
  const { icon, tone, words, code, tier } = entryWords(entry, problem.tiers);
  const title = titleOf(entry, problem, nowMs);
  return (
    <li class={open ? "history-row is-open" : "history-row"}>
      <label class="history-mark">
        <input
          type="checkbox"
          checked={chosen}
          aria-label={`Compare: ${title}`}
          onChange={() => {
            onToggle(entry.id);
          }}
        />
      </label>
      <div class="history-what">
        <button
          type="button"
          class="history-open"
          title="Show its results"
          aria-current={open ? "true" : undefined}
          onClick={() => {
            onOpen(entry.id);
          }}
        >
          <span class={`history-verdict ${tone}`}>
            <Icon name={icon} />
          </span>
          <span>
            <span class={`history-verdict ${tone}`}>{words}</span>
            {code !== null && <span class="history-code">{code}</span>}
            {tier !== "" && ` ${tier}`}
          </span>
        </button>
        <p class="history-facts quiet">
          <Ago atMs={Date.parse(entry.created_at)} nowMs={nowMs} />
          {entry.judged_ms !== null && <span>judged in {seconds(entry.judged_ms)}</span>}
          {entry.kind === "tests" && <span>tests</span>}
          {entry.judgings > 1 && <span>judged {entry.judgings} times</span>}
          {entry.problem_version !== problem.version && (
            <span>by an earlier version of the exercise</span>
          )}
          {open && <span>shown in the results</span>}
        </p>
        <p class="history-done" role="status">
          {note}
        </p>
      </div>
      <span class="history-score" title="Score">
        {isScored(entry) && percent(entry.score)}
      </span>
      <button
        type="button"
        class="button plain"
        title="Put it into the editor; undo brings back what it replaces"
        aria-label={`Restore: ${title}`}
        onClick={() => {
          onRestore(entry.id);
        }}
      >
        Restore
      </button>
    </li>
  );
}
