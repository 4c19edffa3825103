/** Where an exercise stands: its track, and what comes before and after it there. */
import type { Catalogue } from "../api/types";
import { problemAddress, trackAddress } from "../parts/addresses";
import type { Place, Step } from "../parts/place";

/** The place of an exercise in the catalogue; null when it is not there. */
export function placeOf(catalogue: Catalogue, slug: string): Place | null {
  const card = catalogue.problems.find((each) => each.slug === slug);
  if (!card) return null;
  const track = catalogue.tracks.find((each) => each.id === card.track);
  const row = catalogue.problems
    .filter((each) => each.track === card.track)
    .sort((one, other) => one.number - other.number);
  const at = row.indexOf(card);
  return {
    title: card.title,
    trail: track ? [{ title: track.title, href: trackAddress(track.id) }] : [],
    previous: step(row[at - 1]),
    next: step(row[at + 1]),
  };
}

function step(card: { slug: string; title: string } | undefined): Step | null {
  return card ? { title: card.title, href: problemAddress(card.slug) } : null;
}
