import { useEffect, useState } from "preact/hooks";

import type { Desk } from "./desk";

type Parts = typeof import("./parts");

/** What `judge dev` adds to the page of an exercise. */
export interface Author {
  desk: Desk;
  parts: Parts;
}

/** Null in every judge but `judge dev`, and for all exercises but its own: nothing is loaded then. */
export function useAuthor(slug: string, isAuthor: boolean): Author | null {
  const [author, setAuthor] = useState<Author | null>(null);
  useEffect(() => {
    if (!isAuthor) return;
    let desk: Desk | null = null;
    let isGone = false;
    const open = async () => {
      const parts = await import("./parts");
      if (isGone) return;
      desk = parts.openDesk(slug);
      setAuthor({ desk, parts });
    };
    open().catch((error: unknown) => {
      console.error(error); // the page is as students see it
    });
    return () => {
      isGone = true;
      desk?.end();
      setAuthor(null);
    };
  }, [slug, isAuthor]);
  return author;
}

/** Ask for the exercise again whenever the desk says that there is something new about it. */
export function useReloading(author: Author | null, reload: () => void): void {
  const news = author?.desk.news.value ?? null;
  const state = news && `${news.changes} ${news.version ?? ""} ${news.is_read}`;
  useEffect(() => {
    if (state === null) return;
    reload();
  }, [state, reload]);
}
