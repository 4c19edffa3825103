import "./StatementPane.css";

import { Fragment } from "preact";
import { useMemo } from "preact/hooks";

import type { Catalogue, Frame, ProblemPage, TierToPass } from "../api/types";
import { Charts } from "../charts/Charts";
import { CourseCard } from "../course/CourseCard";
import { Takeaways } from "../course/Takeaways";
import { TestsTable } from "../course/TestsTable";
import { Examples } from "../examples/Examples";
import type { JudgingView } from "../judging/view";
import { AdvisoryChip } from "../parts/AdvisoryChip";
import { problemAddress, trackAddress } from "../parts/addresses";
import { counted, passRate } from "../parts/amounts";
import { Boundary } from "../parts/Boundary";
import { placeOfCheck } from "../parts/checkPlace";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { declarations } from "./contract";
import { splitBefore } from "./dressing";
import { PythonCode } from "./PythonCode";
import { Statement } from "./Statement";
import { allLimits, limitsInWords } from "./words";

/** The heading of a statement's own words on what is called and returned. */
const INTERFACE = "statement-interface";
/** The charts stand before this heading of a statement; at its end where it has none. */
const CHECKING = "statement-how-it-is-checked";

interface Props {
  problem: ProblemPage;
  /** For the titles of other exercises; null until it is known. */
  catalogue: Catalogue | null;
}

interface PaneProps extends Props {
  /** The newest submission or run: what examples printed. */
  view: JudgingView | null;
  busy: boolean;
  /** Run lines of an example after the student's code. */
  onExample: (code: string) => void;
  onReveal: (frame: Frame) => void;
  /** Show a check, wherever there is most to see of it. */
  onCheck: (check: string) => void;
}

/** The exercise, to be read: what is written about it, and around that what the judge knows of it. */
export function StatementPane(props: PaneProps) {
  const { problem, catalogue } = props;
  const { statement_html: html, course, tiers } = problem;
  const { before, after } = useMemo(() => splitBefore(html, CHECKING), [html]);
  const checks = useMemo(() => tiers.flatMap((tier) => tier.checks), [tiers]);
  return (
    <article class="statement-pane">
      <h1>{problem.title}</h1>
      <p class="statement-pane-promise">{problem.summary}</p>
      <Meta problem={problem} catalogue={catalogue} />
      {course && <CourseCard problem={problem} course={course} catalogue={catalogue} />}
      <Takeaways takeaways={problem.takeaways} checks={checks} onCheck={props.onCheck} />
      <Interface problem={problem} />
      {before !== "" && <Statement html={before} />}
      <Examples
        examples={problem.examples}
        view={props.view}
        busy={props.busy}
        onRun={props.onExample}
        onReveal={props.onReveal}
      />
      <Preview preview={problem.preview} />
      {after !== "" && <Statement html={after} />}
      <Checks tiers={tiers} limits={problem.limits} isChapter={course !== null} />
      <Sources sources={problem.sources} />
    </article>
  );
}

function Meta({ problem, catalogue }: Props) {
  const { track, course, tags, limits, pass_rate: rate } = problem;
  return (
    <ul class="statement-pane-meta">
      <li>
        <a href={trackAddress(track.id)}>{track.title}</a>
        {course ? `, ${course.module}` : `, number ${track.number}`}
      </li>
      {tags.length > 0 && <li>{tags.join(", ")}</li>}
      <li>{limitsInWords(limits)}</li>
      {rate && <li>{passRate(rate)}</li>}
      {/* A chapter's card says it at more length. */}
      {!course && <Others words="builds on" slugs={problem.needs} catalogue={catalogue} />}
      {!course && <Others words="used by" slugs={problem.used_by} catalogue={catalogue} />}
    </ul>
  );
}

interface OthersProps {
  words: string;
  slugs: readonly string[];
  catalogue: Catalogue | null;
}

function Others({ words, slugs, catalogue }: OthersProps) {
  if (slugs.length === 0) return null;
  return (
    <li>
      {words}{" "}
      {slugs.map((slug, index) => (
        <Fragment key={slug}>
          {index > 0 && ", "}
          <a href={problemAddress(slug)}>
            {catalogue?.problems.find((card) => card.slug === slug)?.title ?? slug}
          </a>
        </Fragment>
      ))}
    </li>
  );
}

/** What has to be written, and what is there already. */
function Interface({ problem }: { problem: ProblemPage }) {
  const { contract, entry_points: required, files, provided, statement_html: html } = problem;
  const file = files.find((each) => each.role === "solution")?.name;
  // Where the text explains the interface itself, the signatures wait to be asked for.
  const isExplained = html.includes(`id="${INTERFACE}"`);
  return (
    <section class="interface-card" aria-label="Interface">
      <details open={!isExplained}>
        <summary>
          <Icon name="chevron" />
          <strong>Required</strong>
          <span>
            <code>{required.join(", ")}</code>{" "}
            {file !== undefined && <span class="quiet">in {file}</span>}
          </span>
        </summary>
        <Names names={required} contract={contract} />
      </details>
      {provided && (
        <details>
          <summary>
            <Icon name="chevron" />
            <strong>Provided</strong>
            <span>
              <code>{provided.names.join(", ")}</code>{" "}
              <span class="quiet">in {provided.name}, read-only</span>
            </span>
          </summary>
          <Names names={provided.names} contract={contract} />
        </details>
      )}
      {problem.rules.length > 0 && (
        <div class="interface-card-rules">
          <strong>Not allowed here</strong>
          <ul>
            {problem.rules.map((rule) => (
              <li key={rule}>
                <Icon name="skip" />
                <span>
                  <Coded text={rule} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** Names with their declarations; those that the contract does not declare by name only. */
function Names({ names, contract }: { names: readonly string[]; contract: string }) {
  const declared = declarations(contract, names);
  const bare = names.filter((name) => !declared.some((each) => each.name === name));
  return (
    <>
      {declared.map(({ name, about, source }) => (
        <Fragment key={name}>
          <PythonCode source={source} label={`Signature of ${name}`} />
          {about !== "" && <p>{about}</p>}
        </Fragment>
      ))}
      {bare.length > 0 && (
        <p>
          <code>{bare.join(", ")}</code>
        </p>
      )}
    </>
  );
}

function Preview({ preview }: { preview: ProblemPage["preview"] }) {
  if (preview.state === "ready" && preview.charts.length === 0) return null;
  return (
    <section class="reference-preview">
      <h2 class="visually-hidden">Reference preview</h2>
      {preview.state === "pending" && (
        <p class="reference-preview-note" role="status">
          <Icon name="running" /> The reference is being run. Its charts appear here.
        </p>
      )}
      {preview.state === "failed" && (
        <p class="reference-preview-note">
          The charts of the reference could not be drawn. This is a fault of the exercise, not
          yours.
        </p>
      )}
      {preview.state === "ready" && (
        <Boundary what="The preview">
          <Charts reference={preview.charts} submission={[]} />
        </Boundary>
      )}
    </section>
  );
}

interface ChecksProps extends Pick<ProblemPage, "tiers" | "limits"> {
  /** Of a chapter all tests are listed, in a table of their own. */
  isChapter: boolean;
}

function Checks({ tiers, limits, isChapter }: ChecksProps) {
  return (
    <section class="tier-list" aria-labelledby="tier-list-title">
      <h2 id="tier-list-title">Check by check</h2>
      <ul>
        {tiers.map((tier) => (
          <li key={tier.id}>
            <Tier tier={tier} isClosed={isChapter} />
          </li>
        ))}
      </ul>
      {isChapter && <TestsTable tiers={tiers} />}
      <p class="tier-list-limits">{allLimits(limits).join(" ")}</p>
    </section>
  );
}

function Tier({ tier, isClosed }: { tier: TierToPass; isClosed: boolean }) {
  const line = (
    <>
      <span class="tier-list-id">{tier.id}</span>
      <span class="tier-list-words">
        <strong>{tier.title}.</strong> <AdvisoryChip tier={tier} /> <Coded text={tier.about} />{" "}
        <span class="quiet">{known(tier)}</span>
      </span>
    </>
  );
  if (isClosed || tier.checks.length === 0) return <div class="tier-list-line">{line}</div>;
  return (
    <details>
      <summary class="tier-list-line">
        {line}
        <Icon name="chevron" />
      </summary>
      <ol>
        {tier.checks.map((check) => (
          <li key={check.id} {...placeOfCheck(check.id)}>
            <Coded text={check.title} />
            {check.why !== "" && (
              <span class="quiet">
                {" "}
                <Coded text={check.why} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** How many checks a tier has, and whether Run shows them. */
function known({ checks, visible }: TierToPass): string {
  if (checks.length === 0) return "";
  const all = counted(checks.length, "check");
  if (visible === true) return `${all}, part of Run.`;
  if (visible === false || visible.length === 0) return `${all}.`;
  return `${all}, ${visible.length} of them part of Run.`;
}

function Sources({ sources }: { sources: readonly string[] }) {
  if (sources.length === 0) return null;
  return (
    <section class="statement-pane-sources" aria-labelledby="statement-pane-sources-title">
      <h2 id="statement-pane-sources-title">Sources</h2>
      <ul>
        {sources.map((source) => (
          <li key={source}>{source}</li>
        ))}
      </ul>
    </section>
  );
}
