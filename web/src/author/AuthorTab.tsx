import "./AuthorTab.css";

import { useMemo } from "preact/hooks";

import type { AuthorNews, Case, Proof, ProblemPage } from "../api/types";
import { counted } from "../parts/amounts";
import { Boundary } from "../parts/Boundary";
import { Icon } from "../parts/Icon";
import type { Desk } from "./desk";
import { Faults } from "./Faults";
import { HeadroomTable } from "./HeadroomTable";
import { KillMatrixTable } from "./KillMatrixTable";
import { MadeMutants } from "./MadeMutants";
import { stateOf } from "./state";
import { TimesTable } from "./TimesTable";

interface Props {
  problem: ProblemPage;
  desk: Desk;
}

/** What only the author sees: whether the checks are right, strong, stable and fast. */
export function AuthorTab({ problem, desk }: Props) {
  const news = desk.news.value;
  const proof = desk.proof.value;
  if (news === null) return null;
  const state = stateOf(news, desk.isOpen.value);
  const isStale = proof !== null && proof.version !== news.version;
  return (
    <article class="author">
      <h2 class="author-title">Proof</h2>
      <p class={`author-state is-${state.tone ?? "open"}`}>
        <Icon name={state.icon} /> {state.words}
      </p>
      <Progress news={news} isStale={isStale} />
      {proof && (
        <div class={isStale ? "author-numbers is-stale" : "author-numbers"}>
          <Boundary what="The author's panel">
            <Numbers problem={problem} proof={proof} folder={news.folder} />
          </Boundary>
        </div>
      )}
    </article>
  );
}

/** What happens now, where it is not told by the numbers themselves. */
function Progress({ news, isStale }: { news: AuthorNews; isStale: boolean }) {
  const { state, trouble } = news.proving;
  const before = isStale ? "The numbers below are of the version before. " : "";
  if (state === "stopped") {
    return (
      <>
        <p class="author-progress">{trouble}</p>
        <p class="author-progress">{before}It is tried again when a file is saved.</p>
      </>
    );
  }
  if (state === "proving") return before && <p class="author-progress">{before}</p>;
  if (state === "waiting") {
    const why =
      news.faults.length > 0
        ? "The proof begins when the faults are mended."
        : "The proof begins once the reference has run.";
    return (
      <p class="author-progress">
        {before}
        {why}
      </p>
    );
  }
  return null;
}

interface NumbersProps {
  problem: ProblemPage;
  proof: Proof;
  folder: string;
}

function Numbers({ problem, proof, folder }: NumbersProps) {
  const tierOf = useMemo(() => tierFinder(problem, proof), [problem, proof]);
  const lint = proof.cases.filter(({ kind }) => kind === "lint");
  const made = proof.cases.flatMap((each) => (each.kind === "generated" ? each.findings : []));
  return (
    <>
      <p class="quiet author-of">
        {[
          counted(proof.seeds, "seed"),
          proof.sandboxes.join(" and "),
          `${proof.wall_s.toFixed(1)} s`,
        ]
          .filter((words) => words !== "")
          .join(" · ")}
      </p>
      <Claims cases={proof.cases} folder={folder} />
      <Lint cases={lint} folder={folder} />
      <KillMatrixTable matrix={proof.matrix} tierOf={tierOf} />
      <MadeMutants
        made={proof.made}
        needed={proof.kill_rate_needed}
        findings={made}
        folder={folder}
      />
      <HeadroomTable headroom={proof.headroom} />
      <TimesTable
        times={proof.times}
        wallMs={problem.limits.wall_s * 1000}
        factor={proof.limit_factor}
      />
    </>
  );
}

/** In which tier a check runs: as it was timed, or else as the page lists it. */
function tierFinder(problem: ProblemPage, proof: Proof): (check: string) => string {
  const tiers = new Map<string, string>();
  for (const tier of problem.tiers) for (const { id } of tier.checks) tiers.set(id, tier.id);
  for (const { check, tier } of proof.times) tiers.set(check, tier);
  return (check) => tiers.get(check) ?? "";
}

interface CasesProps {
  cases: readonly Case[];
  folder: string;
}

const isFailed = ({ findings, skipped }: Case) =>
  skipped === "" && findings.some(({ advice }) => !advice);

/** What is told in a part of its own. */
const ELSEWHERE: readonly Case["kind"][] = ["lint", "generated"];

/** All claims are counted; those that do not hold are told, but for what is told elsewhere. */
function Claims({ cases, folder }: CasesProps) {
  const told = cases.filter(({ kind }) => !ELSEWHERE.includes(kind));
  const failed = cases.filter(isFailed);
  const skipped = cases.filter((each) => each.skipped !== "");
  return (
    <section class="author-part" aria-labelledby="author-claims">
      <h3 id="author-claims">Claims</h3>
      <p class="author-sum">
        {cases.length - failed.length - skipped.length} of {counted(cases.length, "claim")} hold
        {skipped.length > 0 && `, ${skipped.length} could not be tried`}.
      </p>
      {told.filter(isFailed).map((each) => (
        <div key={`${each.kind} ${each.id}`} class="author-claim">
          <h4>
            <Icon name="fail" /> {each.title} <span class="quiet">{each.kind}</span>
          </h4>
          <Faults faults={each.findings.filter(({ advice }) => !advice)} folder={folder} />
        </div>
      ))}
      <Advice cases={told} folder={folder} />
      {skipped.length > 0 && (
        <details class="author-more">
          <summary>
            <Icon name="chevron" /> {counted(skipped.length, "claim")} not tried
          </summary>
          <ul class="author-list">
            {skipped.map(({ kind, id, title, skipped: why }) => (
              <li key={`${kind} ${id}`}>
                {title}: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Lint({ cases, folder }: CasesProps) {
  if (cases.length === 0) return null;
  const findings = cases.flatMap((each) => each.findings).filter(({ advice }) => !advice);
  return (
    <section class="author-part" aria-labelledby="author-lint">
      <h3 id="author-lint">Statement and sources</h3>
      {findings.length === 0 ? (
        <p class="author-sum">Nothing was found.</p>
      ) : (
        <Faults faults={findings} folder={folder} />
      )}
      <Advice cases={cases} folder={folder} />
    </section>
  );
}

function Advice({ cases, folder }: CasesProps) {
  const advice = cases.flatMap(({ findings }) => findings.filter((finding) => finding.advice));
  if (advice.length === 0) return null;
  return (
    <details class="author-more">
      <summary>
        <Icon name="chevron" /> {counted(advice.length, "piece")} of advice
      </summary>
      <Faults faults={advice} folder={folder} tone="skip" />
    </details>
  );
}
