import { type Split, useSplit } from "../parts/Splitter";

/** How the page of an exercise is divided, before the exercise has come as well. */
export function usePanes(): { columns: Split; rows: Split } {
  return { columns: useSplit("columns", 44), rows: useSplit("rows", 60) };
}
