import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { getHistory } from "../api/http";
import type { History } from "../api/types";
import { sentenceOf, useLoaded, type Loaded } from "../parts/useLoaded";
import { extended, refreshed } from "./entries";

// Submissions from elsewhere, the command line say, are not heard of; they are asked for.
const UNFINISHED_EVERY_MS = 3000;

export interface HistoryParts extends Omit<Loaded<History>, "put"> {
  loadingMore: boolean;
  /** Load the part that follows. */
  more: () => void;
  moreTrouble: string | null;
}

/**
 * The history of an exercise, as far down as was asked for. It is read again when `finished` grows,
 * when `openId` is not in it, and while something in it is on its way.
 */
export function useHistory(slug: string, finished: number, openId: string | null): HistoryParts {
  const shown = useRef<History | null>(null);
  const [loadingMore, setLoadingMore] = useState(false);
  const [moreTrouble, setMoreTrouble] = useState<string | null>(null);

  const load = useCallback(async () => {
    const newest = await getHistory(slug);
    // Put together with what is shown by now: more of it may have been loaded meanwhile.
    return refreshed(shown.current, newest);
  }, [slug]);
  const { value, trouble, reload, put } = useLoaded(load, null, finished);
  shown.current = value;

  useEffect(() => {
    const known = shown.current?.submissions.some(({ id }) => id === openId) ?? true;
    if (openId !== null && !known) reload();
  }, [openId, reload]);

  const unfinished = value?.submissions.some(({ state }) => state !== "finished") ?? false;
  useEffect(() => {
    if (!unfinished) return;
    const timer = setInterval(reload, UNFINISHED_EVERY_MS);
    return () => {
      clearInterval(timer);
    };
  }, [unfinished, reload]);

  const more = () => {
    const before = value?.next ?? null;
    if (before === null || loadingMore) return;
    setLoadingMore(true);
    setMoreTrouble(null);
    getHistory(slug, before)
      .then(
        (part) => {
          // Read again meanwhile, the end may be elsewhere: the part would leave a gap.
          if (shown.current?.next !== before) return;
          put(extended(shown.current, part));
        },
        (error: unknown) => {
          setMoreTrouble(sentenceOf(error));
        },
      )
      .finally(() => {
        setLoadingMore(false);
      });
  };

  return { value, trouble, reload, loadingMore, more, moreTrouble };
}
