import { useEffect, useState } from "preact/hooks";

const SECOND_MS = 1000;

/** Whole seconds until `atMs`, 0 when it has passed; told again every second. */
function useSecondsUntil(atMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const left = Math.max(0, Math.ceil((atMs - nowMs) / SECOND_MS));
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => {
      setNowMs(Date.now());
    }, SECOND_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isOver, atMs]);
  return left;
}

interface Props {
  atMs: number;
  before: (seconds: number) => string;
  after: string;
}

/** Words that count down, and others when the time has come. */
export function Countdown({ atMs, before, after }: Props) {
  const left = useSecondsUntil(atMs);
  return <>{left > 0 ? before(left) : after}</>;
}
