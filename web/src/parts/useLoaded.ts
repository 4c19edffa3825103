import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { Refused, Unreachable } from "../api/http";

export interface Loaded<Value> {
  /** The newest that arrived; null before the first. */
  value: Value | null;
  /** Why the newest request brought nothing, as a sentence. */
  trouble: string | null;
  reload: () => void;
  /** Show a value that was learned otherwise. */
  put: (value: Value) => void;
}

/** What the judge says no with, or that it does not answer. Anything else is a fault of the page. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Refused || error instanceof Unreachable) return error.message;
  throw error;
}

/**
 * Load something now, whenever `load` or `again` changes, on `reload`, and when the network is back
 * after it was not reached. `kept` is shown until then.
 */
export function useLoaded<Value>(
  load: () => Promise<Value>,
  kept: Value | null,
  again = 0,
): Loaded<Value> {
  const [value, setValue] = useState<Value | null>(kept);
  const [trouble, setTrouble] = useState<string | null>(null);
  const newest = useRef(0);

  const reload = useCallback(() => {
    // Answers may overtake each other, and the page may have gone on to something else.
    const mine = (newest.current += 1);
    load().then(
      (loaded) => {
        if (newest.current !== mine) return;
        setValue(loaded);
        setTrouble(null);
      },
      (error: unknown) => {
        if (newest.current === mine) setTrouble(sentenceOf(error));
      },
    );
  }, [load]);

  useEffect(() => {
    reload();
    return () => {
      newest.current += 1;
    };
  }, [reload, again]);

  useEffect(() => {
    if (trouble === null) return;
    addEventListener("online", reload);
    return () => {
      removeEventListener("online", reload);
    };
  }, [trouble, reload]);

  return { value, trouble, reload, put: setValue };
}
