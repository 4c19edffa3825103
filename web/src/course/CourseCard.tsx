import "./CourseCard.css";

import type { ComponentChildren } from "preact";

import type { Catalogue, Course, ProblemPage } from "../api/types";
import { problemAddress } from "../parts/addresses";
import { Coded } from "../parts/Coded";
import { exerciseName } from "../parts/exerciseName";
import { Icon } from "../parts/Icon";

interface Props {
  problem: ProblemPage;
  course: Course;
  /** For the titles of other exercises, and whether they are solved; null until it is known. */
  catalogue: Catalogue | null;
}

/** What a chapter of a course is, what it needs and what it is needed for. */
export function CourseCard({ problem, course, catalogue }: Props) {
  return (
    <section class="course-card" aria-label="Chapter">
      <dl class="course-facts">
        <Fact term="Module" words={course.module} />
        <Fact term="Kind" words={course.kind} />
        <Fact term="Language" words={course.language} />
        <Fact term="Pass" words={String(course.pass)} />
        <Fact term="Rung" words={course.rung} />
        <Fact term="Time" words={course.hours} />
      </dl>
      <dl class="course-rows">
        <Row term="Builds">
          <code>{course.builds}</code>
        </Row>
        <Row term="Contract">
          <code>{course.contract}</code>
        </Row>
        <Row term="Course tests">
          <code>{course.course_tests}</code>
        </Row>
        {course.own_tests !== "" && (
          <Row term="Own tests">
            <code>{course.own_tests}</code>
          </Row>
        )}
        {course.milestone !== "" && (
          <Row term="Milestone">
            <Coded text={course.milestone} />
          </Row>
        )}
        <Needs slugs={problem.needs} assumed={course.assumes} catalogue={catalogue} />
        <UsedBy slugs={problem.used_by} others={course.used_by} catalogue={catalogue} />
        {course.later.length > 0 && (
          <Row term="Later">
            <Sentences texts={course.later} />
          </Row>
        )}
      </dl>
    </section>
  );
}

function Fact({ term, words }: { term: string; words: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <Coded text={words} />
      </dd>
    </div>
  );
}

function Row({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Exercises of this judge with their state, then what every student has already. */
function Needs({
  slugs,
  assumed,
  catalogue,
}: {
  slugs: readonly string[];
  assumed: readonly string[];
  catalogue: Catalogue | null;
}) {
  if (slugs.length + assumed.length === 0) return null;
  return (
    <Row term="Needs">
      <ul>
        {slugs.map((slug) => (
          <li key={slug}>
            <Chapter slug={slug} catalogue={catalogue} withState />
          </li>
        ))}
        {assumed.map((words) => (
          <li key={words}>
            <Coded text={words} /> <span class="quiet">given</span>
          </li>
        ))}
      </ul>
    </Row>
  );
}

function UsedBy({
  slugs,
  others,
  catalogue,
}: {
  slugs: readonly string[];
  others: readonly string[];
  catalogue: Catalogue | null;
}) {
  if (slugs.length + others.length === 0) return null;
  return (
    <Row term="Used by">
      <ul>
        {slugs.map((slug) => (
          <li key={slug}>
            <Chapter slug={slug} catalogue={catalogue} />
          </li>
        ))}
        {others.map((words) => (
          <li key={words}>
            <Coded text={words} />
          </li>
        ))}
      </ul>
    </Row>
  );
}

interface ChapterProps {
  slug: string;
  catalogue: Catalogue | null;
  withState?: boolean;
}

/** An exercise of this judge: its label and title, as a link. */
function Chapter({ slug, catalogue, withState = false }: ChapterProps) {
  const card = catalogue?.problems.find((each) => each.slug === slug);
  const isSolved = card?.progress.state === "solved";
  return (
    <>
      <a href={problemAddress(slug)}>{card ? exerciseName(card) : slug}</a>
      {withState && card && (
        <span class={`course-state ${isSolved ? "is-solved" : ""}`}>
          <Icon name={isSolved ? "pass" : "waiting"} />
          {isSolved ? "passed" : "not passed yet"}
        </span>
      )}
    </>
  );
}

function Sentences({ texts }: { texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((words) => (
        <li key={words}>
          <Coded text={words} />
        </li>
      ))}
    </ul>
  );
}
