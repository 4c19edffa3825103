import "./CataloguePage.css";

import { useLocation } from "preact-iso";
import { useMemo, useRef } from "preact/hooks";

import type { Catalogue, TrackCard } from "../api/types";
import { draftOf } from "../editor/drafts";
import { useNow } from "../parts/Ago";
import { counted } from "../parts/amounts";
import { usePlace } from "../parts/place";
import type { Loaded } from "../parts/useLoaded";
import { BrokenFolders } from "./BrokenFolders";
import { FilterBar } from "./FilterBar";
import { addressOf, filtered, filtersOf, matching, type Filters } from "./filters";
import { ListSkeleton, ProblemList } from "./ProblemList";
import { countWords, rowsOf, type Row } from "./rows";
import { TrackPicture } from "./TrackPicture";
import { useCatalogue } from "./useCatalogue";
import { useRowKeys } from "./useRowKeys";

/** The list of exercises at /, and one track of it with its graph at /tracks/{id}. */
export function CataloguePage({ track }: { track: string | null }) {
  const loaded = useCatalogue();
  const catalogue = loaded.value;
  const card = catalogue?.tracks.find(({ id }) => id === track) ?? null;
  const title = titleOf(track, catalogue, card);
  usePlace(
    useMemo(
      () => (title === null ? null : { title, trail: [], previous: null, next: null }),
      [title],
    ),
  );

  return (
    <div class="catalogue">
      {track !== null && (
        <p class="catalogue-back">
          <a href="/">All exercises</a>
        </p>
      )}
      {title !== null && <h1>{title}</h1>}
      {catalogue && track !== null && !card && (
        <p class="quiet">The judge has no track called “{track}”.</p>
      )}
      {card && <p class="catalogue-summary">{card.summary}</p>}
      <Trouble loaded={loaded} />
      {!catalogue && loaded.trouble === null && <ListSkeleton />}
      {catalogue && (track === null || card) && <Listing catalogue={catalogue} track={card} />}
      {catalogue && track === null && <BrokenFolders broken={catalogue.broken} />}
    </div>
  );
}

/** Null while it is not known. */
function titleOf(
  track: string | null,
  catalogue: Catalogue | null,
  card: TrackCard | null,
): string | null {
  if (track === null) return "Exercises";
  return catalogue && (card?.title ?? "No such track");
}

function Trouble({ loaded }: { loaded: Loaded<Catalogue> }) {
  if (loaded.trouble === null) return null;
  return (
    <div class="catalogue-trouble" role="alert">
      <p>
        {loaded.trouble} {loaded.value && "The list is as it was before."}
      </p>
      <button type="button" class="button" onClick={loaded.reload}>
        Try again
      </button>
    </div>
  );
}

/** Filters and rows; of one track, or of all. */
function Listing({ catalogue, track }: { catalogue: Catalogue; track: TrackCard | null }) {
  const { url, path, route } = useLocation();
  const nowMs = useNow();
  const list = useRef<HTMLOListElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const keys = useRowKeys(list, search);

  const rows = useMemo(() => {
    const all = rowsOf(catalogue, (slug) => draftOf(slug)?.savedAtMs ?? null);
    return track ? all.filter((row) => row.problem.track === track.id) : all;
  }, [catalogue, track]);
  const asked = filtersOf(url.split("?")[1] ?? "");
  const filters = track ? { ...asked, track: null } : asked;
  const shown = matching(rows, filters);

  const change = (changed: Filters) => {
    // One step back for a whole search, not one for every letter.
    const typing = filters.text !== "" && changed.text !== "" && filters.text !== changed.text;
    route(addressOf(path, changed), typing);
  };

  if (rows.length === 0) return <p>There are no exercises here yet.</p>;
  return (
    <>
      {track && <TrackPicture track={track.id} catalogue={catalogue} />}
      <FilterBar
        rows={rows}
        filters={filters}
        tracks={track ? null : catalogue.tracks}
        search={search}
        onSearchKey={keys.onSearchKey}
        onChange={change}
      />
      <p class="catalogue-count quiet" role="status">
        {countLine(rows, shown, filters)}
        {filtered(filters) && (
          <>
            {" "}
            <a href={path}>{shown.length > 0 ? "Show all" : "Show all exercises"}</a>
          </>
        )}
      </p>
      {shown.length > 0 && (
        <ProblemList
          rows={shown}
          tracks={track === null}
          nowMs={nowMs}
          list={list}
          onKey={keys.onListKey}
        />
      )}
    </>
  );
}

function countLine(rows: readonly Row[], shown: readonly Row[], filters: Filters): string {
  if (!filtered(filters)) return countWords(rows);
  if (shown.length === 0) return "No exercise fits these filters.";
  return `${shown.length} of ${counted(rows.length, "exercise")}.`;
}
