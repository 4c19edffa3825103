/** Where the page is: what the header and the window's title say. Pages tell it, the header reads. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Step {
  title: string;
  href: string;
}

export interface Place {
  /** The title of what is shown; the last step of the trail, and not a link. */
  title: string;
  /** What it is part of, outermost first. */
  trail: Step[];
  /** Its neighbours, where it stands in a row. */
  previous: Step | null;
  next: Step | null;
}

export const place = signal<Place | null>(null);

/** Say where the page is, for as long as the component stands; null while it is not known. */
export function usePlace(here: Place | null): void {
  useEffect(() => {
    place.value = here;
    document.title = here === null ? "judge" : `${here.title} · judge`;
  }, [here]);
}
