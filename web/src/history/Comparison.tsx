import "./Comparison.css";

import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Side } from "../editor/merge";
import { Failure } from "../parts/Boundary";
import { loadedOr } from "../parts/loading";
import { Tabs } from "../parts/Tabs";
import { fileNames, type Version } from "./comparing";

type Comparer = FunctionComponent<{ left: Side; right: Side }>;

const NOT_LOADED: Comparer = () => <Failure what="Loading the comparison" />;

interface ComparisonProps {
  left: Version;
  right: Version;
  onClose: () => void;
}

/** Two versions of an exercise's files over the whole window, until it is closed. */
export function Comparison({ left, right, onClose }: ComparisonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const names = fileNames(left, right);
  const [index, setIndex] = useState(0);
  const name = names[index] ?? "";
  const Comparer = useComparer();

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  return (
    <dialog ref={dialog} class="comparison" aria-labelledby="comparison-title" onClose={onClose}>
      <div class="comparison-top">
        <h2 id="comparison-title">Comparison</h2>
        {names.length > 1 && (
          <Tabs
            label="Files"
            name="comparison"
            class="comparison-files"
            tabs={names.map((label, place) => ({ id: String(place), label }))}
            active={String(index)}
            onSelect={(id) => {
              setIndex(Number(id));
            }}
          />
        )}
        <button
          type="button"
          class="button plain"
          onClick={() => {
            dialog.current?.close();
          }}
        >
          Close <kbd>Esc</kbd>
        </button>
      </div>
      <div
        class="comparison-texts"
        id={`comparison-panel-${index}`}
        {...(names.length > 1 && {
          role: "tabpanel",
          "aria-labelledby": `comparison-tab-${index}`,
        })}
      >
        {Comparer ? (
          <Comparer key={name} left={side(left, name)} right={side(right, name)} />
        ) : (
          <p class="quiet" role="status">
            The comparison is on its way.
          </p>
        )}
      </div>
    </dialog>
  );
}

function side({ title, files }: Version, name: string): Side {
  return { title, text: files[name] ?? "" };
}

/** The comparing view comes with the editor's code; null until it is here. */
function useComparer(): Comparer | null {
  const [part, setPart] = useState<{ Comparer: Comparer } | null>(null);
  useEffect(() => {
    const load = async () => {
      const coming = import("../editor/Compare").then(({ Compare }): Comparer => Compare);
      setPart({ Comparer: await loadedOr(coming, NOT_LOADED) });
    };
    void load();
  }, []);
  return part?.Comparer ?? null;
}
