import "./TrackPicture.css";

import { useMemo } from "preact/hooks";

import type { Catalogue } from "../api/types";
import { problemAddress } from "../parts/addresses";
import { counted } from "../parts/amounts";
import { exerciseName } from "../parts/exerciseName";
import { Icon } from "../parts/Icon";
import { nodeWords, ofTrack, type Dependencies } from "./dependencies";
import { NODE_HEIGHT, NODE_WIDTH } from "./layout";

/** How the exercises of a track build on each other; nothing where they do not. */
export function TrackPicture({ track, catalogue }: { track: string; catalogue: Catalogue }) {
  const dependencies = useMemo(() => ofTrack(catalogue, track), [catalogue, track]);
  const { layout, cards, alone } = dependencies;
  if (layout.arrows.length === 0) return null;
  const { width, height } = layout;
  const foreign = [...cards.values()].some((card) => card.track !== track);
  const solved = [...cards.values()].some((card) => card.progress.state === "solved");
  return (
    <figure class="picture">
      <div class="picture-scroll">
        <div class="picture-canvas" style={{ width: `${width}px`, height: `${height}px` }}>
          <svg width={width} height={height} aria-hidden="true">
            {layout.arrows.map(({ from, to, path }) => (
              <path key={`${from} ${to}`} d={path} />
            ))}
          </svg>
          {/* The list is what a screen reader hears; the arrows are said with each exercise. */}
          <ol class="picture-nodes" role="list">
            {layout.places.map(({ slug, x, y }) => (
              <li
                key={slug}
                style={{
                  left: `${x}px`,
                  top: `${y}px`,
                  width: `${NODE_WIDTH}px`,
                  height: `${NODE_HEIGHT}px`,
                }}
              >
                <Node slug={slug} cards={cards} track={track} />
              </li>
            ))}
          </ol>
        </div>
      </div>
      <figcaption class="quiet">
        An arrow leads from what is needed to what builds on it.
        {solved && " Filled: solved."}
        {foreign && " Dashed: of another track."}
        {alone > 0 &&
          ` ${counted(alone, "more exercise")} ${alone === 1 ? "stands" : "stand"} alone.`}
      </figcaption>
    </figure>
  );
}

interface NodeProps {
  slug: string;
  cards: Dependencies["cards"];
  /** Exercises of other tracks than this are drawn dashed. */
  track: string;
}

function Node({ slug, cards, track }: NodeProps) {
  const card = cards.get(slug);
  if (!card) return null;
  const names = ["picture-node"];
  if (card.progress.state === "solved") names.push("solved");
  if (card.track !== track) names.push("foreign");
  return (
    <>
      <a class={names.join(" ")} href={problemAddress(slug)} title={exerciseName(card)}>
        {card.progress.state === "solved" && <Icon name="pass" />}
        <span class="picture-title">{exerciseName(card)}</span>
      </a>
      <span class="visually-hidden">{nodeWords(card, cards)}</span>
    </>
  );
}
