import { useEffect, useState } from "preact/hooks";

import { exact, relative } from "./time";

const TICK_MS = 30_000;

/** The time, about twice a minute: relative times on the page stay true. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNowMs(Date.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return nowMs;
}

/** "3 hours ago", with the exact time on hover. */
export function Ago({ atMs, nowMs }: { atMs: number; nowMs: number }) {
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exact(atMs)}>
      {relative(atMs, Math.max(nowMs, atMs))}
    </time>
  );
}
