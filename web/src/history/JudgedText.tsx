import "./JudgedText.css";

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { getHistory } from "../api/http";
import type { EditorHandle } from "../editor/handle";
import { isScratch, type JudgingView } from "../judging/view";
import { Ago, useNow } from "../parts/Ago";
import { clock, exact } from "../parts/time";
import { Comparison } from "./Comparison";
import { isAsIn, type Version } from "./comparing";

interface Props {
  view: JudgingView;
  editor: EditorHandle;
  onRestore: (files: Record<string, string>) => void;
}

/** Which text the results are about, and whether it is still the one in the editor. */
export function JudgedText({ view, editor, onRestore }: Props) {
  const [compared, setCompared] = useState<{ left: Version; right: Version } | null>(null);
  const origin = useOrigin(view);
  const changes = editor.changes.value;
  // Asked for again whenever it has changed.
  const current = useMemo(
    () => ({ ...editor.files(), ...editor.tests() }),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [editor, changes],
  );
  if (isScratch(view) || Object.keys(view.files).length === 0) return null;
  const isSame = isAsIn(current, view.files);
  const compare = () => {
    const right = Object.keys(view.files).map((name) => [name, current[name] ?? ""]);
    setCompared({
      left: { title: "What the results are of", files: view.files },
      right: { title: "In the editor", files: Object.fromEntries(right) as Version["files"] },
    });
  };
  return (
    <div class="judged-text quiet">
      <span>
        <OriginWords origin={origin} />
        {isSame ? ", as it is in the editor" : SINCE[origin.kind]}
      </span>
      {!isSame && (
        <>
          <button type="button" class="link" onClick={compare}>
            Compare
          </button>
          <button
            type="button"
            class="link"
            title="Put it into the editor; undo brings back what it replaces"
            onClick={() => {
              onRestore(view.files);
            }}
          >
            Restore
          </button>
        </>
      )}
      {compared && (
        <Comparison
          {...compared}
          onClose={() => {
            setCompared(null);
          }}
        />
      )}
    </div>
  );
}

/** Sent from this page, or opened; when it was not learned, null. */
type Origin =
  | { kind: "sent"; atMs: number }
  | { kind: "submission"; atMs: number | null }
  | { kind: "run"; atMs: null };

const SINCE: Record<Origin["kind"], string> = {
  sent: " · the editor has changed since",
  submission: ", not what is in the editor",
  run: ", not what is in the editor",
};

function OriginWords({ origin: { kind, atMs } }: { origin: Origin }) {
  const nowMs = useNow();
  if (atMs === null) return <>{kind === "run" ? "An earlier run" : "An earlier submission"}</>;
  if (kind === "sent") return <span title={exact(atMs)}>Of {clock(atMs)}</span>;
  return (
    <>
      Submission of <Ago atMs={atMs} nowMs={nowMs} />
    </>
  );
}

/** When submissions were sent from this page, by id. */
const SENT = new Map<string, number>();

function useOrigin({ id, files, kind, problem }: JudgingView): Origin {
  const sending = useRef<{ files: JudgingView["files"]; atMs: number } | null>(null);
  // The judge has not named it yet; another one may be opened before it does.
  if (id === null && sending.current?.files !== files) {
    sending.current = { files, atMs: Date.now() };
  }
  if (id !== null && sending.current?.files === files) SENT.set(id, sending.current.atMs);
  const sentMs = id === null ? (sending.current?.atMs ?? null) : (SENT.get(id) ?? null);
  const asked = sentMs === null && kind !== "run" ? id : null;
  const createdMs = useCreated(problem, asked);
  if (sentMs !== null) return { kind: "sent", atMs: sentMs };
  return kind === "run" ? { kind, atMs: null } : { kind: "submission", atMs: createdMs };
}

/** When an earlier submission was made, where the newest part of the history tells it. */
function useCreated(problem: string, id: string | null): number | null {
  const [created, setCreated] = useState<Record<string, number>>({});
  const isKnown = id === null || id in created;
  useEffect(() => {
    if (isKnown) return;
    getHistory(problem).then(
      ({ submissions }) => {
        setCreated(Object.fromEntries(submissions.map((each) => [each.id, atMsOf(each)])));
      },
      // It is told without its time.
      () => undefined,
    );
  }, [problem, isKnown, id]);
  return id === null ? null : (created[id] ?? null);
}

const atMsOf = ({ created_at: at }: { created_at: string }): number => Date.parse(at);
