/** The tabs of an exercise: files to write, what is already defined, and a place to try things. */
import type { ProblemPage } from "../api/types";
import { SCRATCH_FILE } from "../judging/view";

export interface Tab {
  /** The file's name, as frames of an exception say it. */
  file: string;
  title: string;
  kind: "file" | "provided" | "scratch";
  /** What it opens with and is reset to. */
  starter: string;
}

export function tabsOf({ files, provided }: ProblemPage): Tab[] {
  const tabs = files.map(({ name, starter }): Tab => ({
    file: name,
    title: name,
    kind: "file",
    starter,
  }));
  if (provided) {
    const title = provided.names.join(", ") || provided.name;
    tabs.push({ file: provided.name, title, kind: "provided", starter: provided.source });
  }
  return [...tabs, { file: SCRATCH_FILE, title: "scratch", kind: "scratch", starter: "" }];
}
