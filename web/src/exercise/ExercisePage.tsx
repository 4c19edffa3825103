/**
 * One exercise at /problems/{slug}: statement, editor and results.
 *
 * This component owns the layout and the address. What is written belongs to the editor, what is
 * judged to `useJudging`; both are only connected here.
 */
import "./ExercisePage.css";

import { useLocation } from "preact-iso";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Catalogue, CheckResult, Frame, Kind, ProblemPage } from "../api/types";
import { type Author, useAuthor, useReloading } from "../author/useAuthor";
import { useCatalogue } from "../catalogue/useCatalogue";
import { EditorPane } from "../editor/EditorPane";
import type { EditorHandle } from "../editor/handle";
import { HintsTab } from "../history/HintsTab";
import { HistoryTab } from "../history/HistoryTab";
import { JudgedText } from "../history/JudgedText";
import { useJudging } from "../judging/judging";
import { type JudgingView, SCRATCH_FILE, type TierView } from "../judging/view";
import { NeedsNotice } from "../course/NeedsNotice";
import { useRefDeps } from "../course/refDeps";
import { trackAddress } from "../parts/addresses";
import { Boundary } from "../parts/Boundary";
import { goToCheck, isCaseOf } from "../parts/checkPlace";
import { NARROW, useMedia } from "../parts/media";
import { type Place, usePlace } from "../parts/place";
import { useShortcuts } from "../parts/shortcuts";
import { Splitter } from "../parts/Splitter";
import { Tabs } from "../parts/Tabs";
import { type AskedCheck, Results } from "../verdict/Results";
import { type Address, addressFrom, hrefOf, type TabName } from "./address";
import { placeOf } from "./neighbours";
import { type PaneName, PaneTabs } from "./PaneTabs";
import { resultState } from "./resultState";
import { Away, Skeleton, Unknown } from "./Skeleton";
import { loadTypesetter } from "./Statement";
import { StatementPane } from "./StatementPane";
import { useCommandKeys } from "./useCommandKeys";
import { useGradeKey } from "./useGradeKey";
import { usePanes } from "./usePanes";
import { useProblem } from "./useProblem";

const READING = [
  { id: "statement", label: "Statement" },
  { id: "hints", label: "Hints" },
  { id: "history", label: "History" },
] as const satisfies readonly { id: TabName; label: string }[];

const WITH_AUTHOR = [...READING, { id: "author", label: "Author" }] as const;

export function ExercisePage({ slug }: { slug: string }) {
  const { loading, retry } = useProblem(slug);
  const { value: catalogue, reload: reloadCatalogue } = useCatalogue();
  const author = useAuthor(slug, catalogue?.author === slug);
  const reload = useCallback(() => {
    retry();
    reloadCatalogue();
  }, [retry, reloadCatalogue]);
  useReloading(author, reload);
  useEffect(() => {
    // While the exercise is on its way; where it fails, formulas are shown as TeX.
    loadTypesetter().catch(() => undefined);
  }, []);
  const problem = loading.state === "ready" ? loading.problem : null;
  usePlace(useMemo(() => placeIn(catalogue, slug, problem), [catalogue, slug, problem]));
  switch (loading.state) {
    case "loading":
      return <Skeleton />;
    case "unknown":
      // What is written has no valid version yet: the author is told why.
      if (author) return <NotYet slug={slug} author={author} />;
      return catalogue?.author === slug ? <Skeleton /> : <Unknown />;
    case "away":
      return <Away sentence={loading.sentence} onRetry={retry} />;
    case "ready":
      return (
        <Exercise
          problem={loading.problem}
          catalogue={catalogue}
          author={author}
          onJudged={retry}
        />
      );
  }
}

function NotYet({ slug, author }: { slug: string; author: Author }) {
  return (
    <>
      <h1 class="visually-hidden">{slug}</h1>
      <author.parts.AuthorBar desk={author.desk} onProof={null} />
    </>
  );
}

function placeIn(
  catalogue: Catalogue | null,
  slug: string,
  problem: ProblemPage | null,
): Place | null {
  const place = catalogue && placeOf(catalogue, slug);
  if (place || !problem) return place;
  const { id, title } = problem.track;
  const trail = [{ title, href: trackAddress(id) }];
  return { title: problem.title, trail, previous: null, next: null };
}

interface ExerciseProps {
  problem: ProblemPage;
  catalogue: Catalogue | null;
  /** In `judge dev` only. */
  author: Author | null;
  /** A submission has its verdict: how far the student has come is to be read again. */
  onJudged: () => void;
}

function Exercise({ problem, catalogue, author, onJudged }: ExerciseProps) {
  const judging = useJudging(problem);
  const view = judging.view.value;
  const finished = judging.finished.value;
  useEffect(() => {
    if (finished > 0) onJudged();
  }, [finished, onJudged]);
  const editor = useRef<EditorHandle>(null);
  const reading = useRef<HTMLDivElement>(null);
  const narrow = useMedia(NARROW);
  const [pane, setPane] = useState<PaneName>("statement");
  const { columns, rows } = usePanes();
  const { address, go } = useAddress(problem.slug);
  const tabs = author ? WITH_AUTHOR : READING;
  const active = tabs.find(({ id }) => id === address.tab)?.id ?? "statement";
  useAddressedSubmission(judging, address, go, () => {
    setPane("results");
  });

  const takesTests = problem.own_tests !== null;
  const unmet = problem.unmet_needs;
  const [refDeps, setRefDeps] = useRefDeps(problem.slug, unmet.length > 0);
  const [asked, setAsked] = useState<AskedCheck | null>(null);

  const send = (kind: Kind, files: Record<string, string> | undefined): boolean => {
    if (files === undefined || judging.busy.peek()) return false;
    judging.send(kind, files, refDeps);
    return true;
  };
  const sendAndShow = (kind: Kind, files: Record<string, string> | undefined) => {
    if (send(kind, files)) setPane("results");
  };
  const run = () => {
    sendAndShow("run", editor.current?.files());
  };
  const submit = () => {
    sendAndShow("submit", editor.current?.files());
  };
  const grade = () => {
    if (takesTests) sendAndShow("tests", editor.current?.tests());
  };
  const scratch = () => {
    const { current } = editor;
    if (current) sendAndShow("run", { ...current.files(), [SCRATCH_FILE]: current.scratch() });
  };
  /** An example shows beside itself what it printed: whoever reads it stays there. */
  const runExample = (code: string) => {
    const { current } = editor;
    if (current) send("run", { ...current.files(), [SCRATCH_FILE]: code });
  };
  const showCode = (then: (handle: EditorHandle) => void) => {
    setPane("code");
    // The editor can be scrolled and focused once its pane is shown.
    requestAnimationFrame(() => {
      if (editor.current) then(editor.current);
    });
  };
  const reveal = (frame: Frame) => {
    showCode((handle) => {
      handle.reveal(frame);
    });
  };
  const restore = (files: Record<string, string>) => {
    showCode((handle) => {
      handle.replace(files);
    });
  };
  const read = (tab: TabName) => {
    setPane("statement");
    go({ ...address, tab }, "replace");
    requestAnimationFrame(() => reading.current?.focus());
  };

  const showCheck = (check: string) => {
    const tier = tierWith(view, check);
    if (view && tier) {
      setPane("results");
      setAsked({ submission: view.id, tier: tier.id, check });
    } else {
      setPane("statement");
      requestAnimationFrame(() => reading.current && goToCheck(reading.current, check));
    }
  };

  useShortcuts({
    "g s": () => {
      read("statement");
    },
    "g h": () => {
      read("history");
    },
    "g c": () => {
      showCode((handle) => {
        handle.focus();
      });
    },
  });
  useCommandKeys({ run, submit, format: () => editor.current?.format() });
  useGradeKey(grade);

  const frames = useMemo(() => framesOf(view?.tiers ?? []), [view?.tiers]);
  const paneProps = (name: PaneName, label: string | null) =>
    narrow
      ? ({
          role: "tabpanel",
          "aria-labelledby": `pane-tab-${name}`,
          hidden: pane !== name,
        } as const)
      : { "aria-label": label ?? undefined };

  const isTitleShown = active === "statement" && (!narrow || pane === "statement");
  return (
    <div class="exercise">
      {author && (
        <author.parts.AuthorBar
          desk={author.desk}
          onProof={() => {
            read("author");
          }}
        />
      )}
      {!isTitleShown && <h1 class="visually-hidden">{problem.title}</h1>}
      <div class="exercise-panes" style={{ "--left": columns.share, "--top": rows.share }}>
        <section
          id="pane-panel-statement"
          class="exercise-reading"
          {...paneProps("statement", "Exercise")}
        >
          <Tabs
            name="reading"
            label="Exercise"
            class="exercise-tabs"
            tabs={tabs}
            active={active}
            onSelect={(tab) => {
              go({ ...address, tab }, "replace");
            }}
          />
          {tabs.map(({ id }) => (
            <div
              key={id}
              ref={id === active ? reading : null}
              id={`reading-panel-${id}`}
              class="exercise-scroll"
              role="tabpanel"
              aria-labelledby={`reading-tab-${id}`}
              tabIndex={0}
              hidden={id !== active}
            >
              {id === "statement" && (
                <Boundary what="The statement">
                  <StatementPane
                    problem={problem}
                    catalogue={catalogue}
                    view={view}
                    busy={judging.busy.value}
                    onExample={runExample}
                    onReveal={reveal}
                    onCheck={showCheck}
                  />
                </Boundary>
              )}
              {id === "hints" && active === id && (
                <Boundary what="The hints">
                  <HintsTab problem={problem} finished={finished} />
                </Boundary>
              )}
              {id === "history" && active === id && (
                <Boundary what="The history">
                  <HistoryTab
                    problem={problem}
                    finished={finished}
                    openId={view?.id ?? null}
                    current={() => ({ ...editor.current?.files(), ...editor.current?.tests() })}
                    onOpen={(submission) => {
                      setPane("results");
                      go({ ...address, submission }, "push");
                    }}
                    onRestore={restore}
                  />
                </Boundary>
              )}
              {id === "author" && author && active === id && (
                <Boundary what="The author's tab">
                  <author.parts.AuthorTab problem={problem} desk={author.desk} />
                </Boundary>
              )}
            </div>
          ))}
        </section>
        <Splitter
          label="Width of the exercise"
          controls="pane-panel-statement"
          orientation="vertical"
          split={columns}
        />
        <div class="exercise-work">
          <section id="pane-panel-code" class="exercise-code" {...paneProps("code", "Code")}>
            <Boundary what="The editor">
              <EditorPane
                problem={problem}
                handle={editor}
                frames={frames}
                sent={view?.files ?? null}
                busy={judging.busy.value}
                onRun={run}
                onSubmit={submit}
                onGrade={takesTests ? grade : null}
                onScratch={scratch}
              >
                <NeedsNotice
                  unmet={unmet}
                  catalogue={catalogue}
                  isOn={refDeps}
                  onChoose={setRefDeps}
                />
              </EditorPane>
            </Boundary>
          </section>
          <Splitter
            label="Height of the editor"
            controls="pane-panel-code"
            orientation="horizontal"
            split={rows}
          />
          {/* The results name themselves; this is what they scroll in. */}
          <div
            id="pane-panel-results"
            class="exercise-results exercise-scroll"
            tabIndex={0}
            {...paneProps("results", null)}
          >
            <h2 class="visually-hidden">Results</h2>
            <Boundary what="The results pane">
              <Results
                problem={problem}
                view={view}
                asked={asked}
                onReveal={reveal}
                onSolution={() => {
                  read("hints");
                }}
              >
                {view && editor.current && (
                  <JudgedText view={view} editor={editor.current} onRestore={restore} />
                )}
              </Results>
            </Boundary>
          </div>
        </div>
      </div>
      {narrow && (
        <PaneTabs
          active={pane}
          state={resultState(view)}
          busy={judging.busy.value}
          onSelect={setPane}
          onSubmit={submit}
        />
      )}
    </div>
  );
}

type Go = (address: Address, how: "push" | "replace") => void;

/** The address, and how it is changed. */
function useAddress(slug: string): { address: Address; go: Go } {
  const { query, route } = useLocation();
  const go = useCallback<Go>(
    (next, how) => {
      route(hrefOf(slug, next), how === "replace");
    },
    [slug, route],
  );
  return { address: addressFrom(query), go };
}

/** Whichever of the two changes, the address and the results name the same submission. */
function useAddressedSubmission(
  { view, open }: ReturnType<typeof useJudging>,
  address: Address,
  go: Go,
  onAddressed: () => void,
): void {
  const { submission } = address;
  const now = useRef({ address, go, onAddressed });
  now.current = { address, go, onAddressed };

  useEffect(() => {
    const shown = view.peek();
    const isOnItsWay = shown?.phase === "sending" || shown?.phase === "unsent";
    if (submission === null || submission === shown?.id || isOnItsWay) return;
    open(submission);
    now.current.onAddressed();
  }, [submission, view, open]);

  const shown = view.value;
  const id = shown?.kind === "run" ? null : (shown?.id ?? null);
  const isRun = shown?.kind === "run" && shown.id !== null;
  useEffect(() => {
    const { address: before, go: change } = now.current;
    if ((id !== null || isRun) && id !== before.submission) {
      change({ ...before, submission: id }, "replace");
    }
  }, [id, isRun]);
}

/** The tier of a finished submission in which the check has run; null where it has not. */
function tierWith(view: JudgingView | null, check: string): TierView | null {
  if (view?.phase !== "finished" || view.kind === "tests") return null;
  const hasRun = ({ id, verdict }: CheckResult) => isCaseOf(id, check) && verdict !== "SK";
  return view.tiers.find(({ checks }) => checks.some(hasRun)) ?? null;
}

const NO_FRAMES: readonly Frame[] = [];

/** Where the student's own code raised what failed checks report. */
function framesOf(tiers: readonly TierView[]): readonly Frame[] {
  const frames = tiers.flatMap(({ checks }) =>
    checks.flatMap(({ detail }) => detail?.frames ?? []),
  );
  // The same each time, so that a check that passes gives the editor nothing to do.
  return frames.length > 0 ? frames : NO_FRAMES;
}
