import { getCatalogue } from "../api/http";
import type { Catalogue } from "../api/types";
import { useLoaded, type Loaded } from "../parts/useLoaded";

// Shown at once when somebody comes back from an exercise, until the judge has answered again.
let kept: Catalogue | null = null;

async function load(): Promise<Catalogue> {
  kept = await getCatalogue();
  return kept;
}

/** All exercises: those of the last visit at once, then as they are now. */
export const useCatalogue = (): Loaded<Catalogue> => useLoaded(load, kept);
