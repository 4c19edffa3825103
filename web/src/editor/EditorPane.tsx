import "./EditorPane.css";

import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Frame, ProblemPage } from "../api/types";
import { Bar } from "./Bar";
import type { EditorHandle } from "./handle";
import { Session } from "./session";
import { PANEL, tabId, TabList } from "./TabList";
import { TestFileActions } from "./TestFileActions";

interface EditorPaneProps {
  problem: ProblemPage;
  handle: RefObject<EditorHandle | null>;
  /** Where the newest results found an exception; marked while the text is what was sent. */
  frames: readonly Frame[];
  /** What was sent for the newest results, by file name; without it nothing is marked. */
  sent?: Readonly<Record<string, string>> | null;
  /** A submission is on its way: Run and Submit wait, typing goes on. */
  busy: boolean;
  onRun: () => void;
  onSubmit: () => void;
  /** Grade the student's own tests; null where the exercise takes none. */
  onGrade: (() => void) | null;
  /** Run the scratch pane against one's own function. */
  onScratch: () => void;
  /** What is to be known before one submits: it stands above the buttons. */
  children?: ComponentChildren;
}

/** Tabs, the editor, its buttons and the note of when the draft was kept. */
export function EditorPane(props: EditorPaneProps) {
  const shownFile = useRef<string | null>(null);
  const { slug, files, provided, own_tests: own, entry_points: names } = props.problem;
  // What tabs are made of. Nothing else of an exercise makes the editor begin again.
  const made = useMemo(
    () => JSON.stringify([slug, files, provided, own !== null, names]),
    [slug, files, provided, own, names],
  );
  return <Pane key={made} shownFile={shownFile} {...props} />;
}

interface PaneProps extends EditorPaneProps {
  /** The file that is shown, for the pane that comes after this one. */
  shownFile: RefObject<string | null>;
}

function Pane(props: PaneProps) {
  const { problem, handle, frames, sent, shownFile } = props;
  const host = useRef<HTMLDivElement>(null);
  const [session, setSession] = useState<Session | null>(null);
  // The editor's keys are bound once, and do what the page wants by then.
  const latest = useRef(props);
  latest.current = props;

  useLayoutEffect(() => {
    if (!host.current) return;
    const opened: Session = new Session(host.current, problem, {
      run: () => {
        run(latest.current, opened);
      },
      submit: () => {
        submit(latest.current);
      },
      grade: () => {
        grade(latest.current);
      },
    });
    showAgain(opened, shownFile.current);
    handle.current = opened;
    setSession(opened);
    return () => {
      shownFile.current = opened.tab.file;
      if (handle.current === opened) handle.current = null;
      opened.end();
    };
    // A problem with other files is another Pane: what else is new of it changes nothing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  useEffect(() => {
    session?.markFrames(frames, sent ?? {});
  }, [session, frames, sent]);

  return (
    <div class="editor-pane">
      {session && (
        <div class="editor-top">
          <TabList
            tabs={session.tabs.value}
            shown={session.shown.value}
            onShow={(index) => {
              session.show(index);
            }}
          />
          {props.onGrade && (
            <TestFileActions
              key={session.tab.file}
              tab={session.tabs.value[session.shown.value] ?? session.tab}
              session={session}
            />
          )}
        </div>
      )}
      <div
        ref={host}
        id={PANEL}
        class="editor-host"
        role="tabpanel"
        aria-labelledby={tabId(session?.shown.value ?? 0)}
      />
      {session && <Notices session={session} />}
      <div class="editor-before">{props.children}</div>
      {session && (
        <Bar
          tab={session.tabs.value[session.shown.value] ?? session.tab}
          busy={props.busy}
          keys={session.keys.value}
          kept={session.kept.value}
          onRun={() => {
            run(props, session);
          }}
          onSubmit={() => {
            submit(props);
          }}
          onGrade={
            props.onGrade &&
            (() => {
              grade(props);
            })
          }
          onFormat={() => {
            session.format();
          }}
          onReset={() => {
            session.reset();
          }}
          onKeys={(keys) => {
            session.chooseKeys(keys);
          }}
        />
      )}
    </div>
  );
}

/** Show the file that the pane before this one showed; what is said of the exercise stays. */
function showAgain(session: Session, file: string | null) {
  const index = session.tabs.peek().findIndex((tab) => tab.file === file);
  const said = session.said.peek();
  if (index > 0) session.show(index);
  session.said.value = said;
}

function run({ busy, onRun, onScratch }: EditorPaneProps, session: Session) {
  if (busy) return;
  if (session.tab.kind === "scratch") onScratch();
  else onRun();
}

function submit({ busy, onSubmit }: EditorPaneProps) {
  if (!busy) onSubmit();
}

function grade({ busy, onGrade }: EditorPaneProps) {
  if (!busy) onGrade?.();
}

/** What was just done, and what waits for a decision. */
function Notices({ session }: { session: Session }) {
  const said = session.said.value;
  return (
    <div class="editor-notices" role="status">
      {said && (
        <p class="editor-notice">
          {said.words}
          {said.undo && (
            <Choice
              words="Undo"
              onChoose={() => {
                session.undo();
              }}
            />
          )}
        </p>
      )}
      {session.hasPrevious.value && (
        <p class="editor-notice">
          This exercise was changed in two tabs. The other text is kept.
          <Choice
            words="Swap them"
            onChoose={() => {
              session.bringBack();
            }}
          />
          <Choice
            words="Forget it"
            onChoose={() => {
              session.forgetPrevious();
            }}
          />
        </p>
      )}
    </div>
  );
}

function Choice({ words, onChoose }: { words: string; onChoose: () => void }) {
  return (
    <button type="button" class="button plain" onClick={onChoose}>
      {words}
    </button>
  );
}
