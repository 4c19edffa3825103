/** The tabs of an exercise: files to write, what is already defined, and a place to try things. */
import type { ProblemPage } from "../api/types";
import { SCRATCH_FILE } from "../judging/view";
import { isTestFile } from "./testFiles";

export interface Tab {
  /** The file's name, as frames of an exception say it. */
  file: string;
  title: string;
  /** "tests" is a file of the student's own tests. */
  kind: "file" | "provided" | "tests" | "scratch";
  /** What it opens with and is reset to. */
  starter: string;
  /** The student has added it, and may rename and remove it. */
  isAdded: boolean;
}

type Files = Readonly<Record<string, string>>;

/** In the order they are shown; `texts` may have files of tests that the student has added. */
export function tabsOf({ files, provided, own_tests: own }: ProblemPage, texts: Files): Tab[] {
  const given = files.map(({ name, role, starter }): Tab => ({
    file: name,
    title: name,
    kind: role === "tests" ? "tests" : "file",
    starter,
    isAdded: false,
  }));
  const added = Object.keys(own === null ? {} : texts)
    .filter((name) => isTestFile(name) && !given.some(({ file }) => file === name))
    .map(addedTab);
  return [
    ...given.filter(({ kind }) => kind === "file"),
    ...(provided ? [providedTab(provided)] : []),
    ...given.filter(({ kind }) => kind === "tests"),
    ...added,
    { file: SCRATCH_FILE, title: "scratch", kind: "scratch", starter: "", isAdded: false },
  ];
}

/** A file of tests that the exercise does not bring. */
export const addedTab = (name: string): Tab => ({
  file: name,
  title: name,
  kind: "tests",
  starter: "",
  isAdded: true,
});

const providedTab = ({ name, names, source }: NonNullable<ProblemPage["provided"]>): Tab => ({
  file: name,
  title: names.join(", ") || name,
  kind: "provided",
  starter: source,
  isAdded: false,
});
