import "./NeedsNotice.css";

import { Fragment } from "preact";

import type { Catalogue } from "../api/types";
import { problemAddress } from "../parts/addresses";
import { exerciseName } from "../parts/exerciseName";
import { unmetWords } from "./needs";

interface Props {
  /** Slugs of exercises that this one is judged on top of, and that are not solved yet. */
  unmet: readonly string[];
  catalogue: Catalogue | null;
  isOn: boolean;
  onChoose: (on: boolean) => void;
}

/** Says what has to be passed first, and offers the reference in its place. */
export function NeedsNotice({ unmet, catalogue, isOn, onChoose }: Props) {
  if (unmet.length === 0) return null;
  return (
    <div class="needs" role="group" aria-label="What this exercise builds on">
      <p>
        {unmet.map((slug, at) => (
          <Fragment key={slug}>
            {at > 0 && (at === unmet.length - 1 ? " and " : ", ")}
            <a href={problemAddress(slug)}>{nameOf(slug, catalogue)}</a>
          </Fragment>
        ))}{" "}
        {unmetWords(unmet.length, isOn)}
      </p>
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          onChange={({ currentTarget: { checked } }) => {
            onChoose(checked);
          }}
        />
        Judge on top of the reference
      </label>
    </div>
  );
}

function nameOf(slug: string, catalogue: Catalogue | null): string {
  const card = catalogue?.problems.find((each) => each.slug === slug);
  return card ? exerciseName(card) : slug;
}
