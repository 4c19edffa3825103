import "./FilterBar.css";

import type { Ref } from "preact";

import type { TrackCard } from "../api/types";
import { Icon } from "../parts/Icon";
import { choicesOf, type Facet, type Filters } from "./filters";
import { STATE_WORDS, type Row, type WorkState } from "./rows";

interface FilterBarProps {
  rows: readonly Row[];
  filters: Filters;
  /** Null on the page of one track: there is nothing to choose. */
  tracks: readonly TrackCard[] | null;
  search: Ref<HTMLInputElement>;
  onSearchKey: (event: KeyboardEvent) => void;
  onChange: (filters: Filters) => void;
}

/** Search and filters; each choice says how many exercises it would show. */
export function FilterBar(props: FilterBarProps) {
  const { rows, filters, tracks, search, onSearchKey, onChange } = props;
  const select = (facet: Facet, label: string, words: (value: string) => string) => (
    <FacetSelect
      label={label}
      rows={rows}
      filters={filters}
      facet={facet}
      words={words}
      onChange={(value) => {
        onChange({ ...filters, [facet]: value });
      }}
    />
  );
  return (
    <search class="filters">
      <label class="filters-search">
        <span class="visually-hidden">Search the exercises</span>
        <Icon name="search" />
        <input
          ref={search}
          type="search"
          value={filters.text}
          placeholder="Search"
          autocomplete="off"
          spellcheck={false}
          aria-keyshortcuts="/"
          onKeyDown={onSearchKey}
          onInput={(event) => {
            onChange({ ...filters, text: event.currentTarget.value });
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      {tracks &&
        select("track", "Track", (id) => tracks.find((track) => track.id === id)?.title ?? id)}
      {select("tag", "Tag", (tag) => tag)}
      {select("state", "State", (state) => STATE_WORDS[state as WorkState])}
    </search>
  );
}

interface FacetSelectProps {
  label: string;
  rows: readonly Row[];
  filters: Filters;
  facet: Facet;
  words: (value: string) => string;
  onChange: (value: string | null) => void;
}

function FacetSelect({ label, rows, filters, facet, words, onChange }: FacetSelectProps) {
  const chosen = filters[facet];
  return (
    <label class="filters-facet">
      <span>{label}</span>
      <select
        value={chosen ?? ""}
        class={chosen === null ? undefined : "chosen"}
        onChange={(event) => {
          onChange(event.currentTarget.value || null);
        }}
      >
        <option value="">All</option>
        {choicesOf(rows, filters, facet).map(({ value, count }) => (
          <option key={value} value={value}>
            {`${words(value)} (${count})`}
          </option>
        ))}
      </select>
    </label>
  );
}
