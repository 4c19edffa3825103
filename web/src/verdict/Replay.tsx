import "./Replay.css";

import { useEffect, useRef, useState } from "preact/hooks";

import type { ProblemPage } from "../api/types";
import { copied } from "../parts/clipboard";
import { Icon } from "../parts/Icon";
import { shortcut } from "../parts/platform";

const SHOWN_MS = 2000;

interface Props {
  problem: ProblemPage;
  /** Null until the submission is finished; its place is kept. */
  seed: number | null;
}

/** The command that judges the same again, with the same numbers. */
export function Replay({ problem, seed }: Props) {
  const command = useRef<HTMLElement>(null);
  const [done, setDone] = useState<string | null>(null);
  useEffect(() => {
    if (done === null) return undefined;
    const timer = setTimeout(() => {
      setDone(null);
    }, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [done]);
  if (seed === null) return <div class="replay" />;
  const [what, seeded] = replayCommand(problem, seed);
  const copy = async () => {
    setDone((await copied(`${what} ${seeded}`)) ? "Copied" : selected(command.current));
  };
  return (
    <div class="replay">
      <span class="replay-title">Replay</span>
      <code ref={command}>
        {what} <span class="replay-seed">{seeded}</span>
      </code>
      <button type="button" class="button plain" onClick={() => void copy()}>
        <Icon name="copy" />
        <span aria-live="polite">{done ?? "Copy"}</span>
      </button>
    </div>
  );
}

/** Several files are judged as the folder they are in. The option stays in one line. */
function replayCommand({ slug, files }: ProblemPage, seed: number): [string, string] {
  const [only, ...more] = files.map((file) => file.name);
  const place = more.length === 0 && only !== undefined ? only : ".";
  return [`judge run ${slug} ${place}`, `--seed ${seed}`];
}

function selected(element: HTMLElement | null): string {
  if (element) getSelection()?.selectAllChildren(element);
  return `Selected, copy it with ${shortcut("C")}`;
}
