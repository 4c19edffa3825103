import "./DependencyPicture.css";

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { Catalogue } from "../api/types";
import { Icon } from "../parts/Icon";
import { around, nodeWords, ofTrack, type Dependencies } from "./dependencies";
import { NODE_HEIGHT, NODE_WIDTH } from "./layout";

/** What an exercise needs and what it is used by; nothing where it has neither. */
export function DependencyPicture({ slug, catalogue }: { slug: string; catalogue: Catalogue }) {
  const dependencies = useMemo(() => around(catalogue, slug), [catalogue, slug]);
  const home = catalogue.problems.find((problem) => problem.slug === slug)?.track ?? null;
  return <Picture dependencies={dependencies} home={home} current={slug} />;
}

/** How the exercises of a track build on each other; nothing where they do not. */
export function TrackPicture({ track, catalogue }: { track: string; catalogue: Catalogue }) {
  const dependencies = useMemo(() => ofTrack(catalogue, track), [catalogue, track]);
  return <Picture dependencies={dependencies} home={track} current={null} />;
}

interface PictureProps {
  dependencies: Dependencies;
  /** Exercises of other tracks than this are drawn dashed. */
  home: string | null;
  current: string | null;
}

function Picture({ dependencies, home, current }: PictureProps) {
  const { layout, cards, alone } = dependencies;
  const scroll = useRef<HTMLDivElement>(null);
  const middle = layout.places.find(({ slug }) => slug === current);

  // Where there is not room for all, the exercise itself is in the middle.
  useLayoutEffect(() => {
    if (!scroll.current || !middle) return;
    scroll.current.scrollLeft = middle.x + NODE_WIDTH / 2 - scroll.current.clientWidth / 2;
  }, [middle]);

  if (layout.arrows.length === 0) return null;
  const { width, height } = layout;
  const foreign = [...cards.values()].some((card) => card.track !== home);
  const solved = [...cards.values()].some((card) => card.progress.state === "solved");
  return (
    <figure class="picture">
      <div class="picture-scroll" ref={scroll}>
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
                <Node slug={slug} dependencies={dependencies} home={home} current={current} />
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
          ` ${alone} more ${alone === 1 ? "exercise stands" : "exercises stand"} alone.`}
      </figcaption>
    </figure>
  );
}

function Node({ slug, dependencies, home, current }: PictureProps & { slug: string }) {
  const card = dependencies.cards.get(slug);
  if (!card) return null;
  const names = ["picture-node"];
  if (card.progress.state === "solved") names.push("solved");
  if (card.track !== home) names.push("foreign");
  return (
    <>
      <a
        class={names.join(" ")}
        href={`/problems/${slug}`}
        title={card.title}
        aria-current={slug === current ? "page" : undefined}
      >
        {card.progress.state === "solved" && <Icon name="pass" />}
        <span class="picture-title">{card.title}</span>
      </a>
      <span class="visually-hidden">{nodeWords(card, dependencies.cards)}</span>
    </>
  );
}
