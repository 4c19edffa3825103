/** What can be compared, and how two of them stand beside each other. */

/** The text in the editor, the reference, or a submission by its id. */
export const EDITOR = "editor";
export const REFERENCE = "reference";

export interface Version {
  title: string;
  files: Record<string, string>;
}

/** Whether `files` stand in `current` just so; it may have more. */
export const isAsIn = (current: Version["files"], files: Version["files"]): boolean =>
  Object.entries(files).every(([name, text]) => current[name] === text);

/** Choose another one; two at most, and the one that was chosen first gives way. */
export function choose(chosen: readonly string[], id: string): string[] {
  if (chosen.includes(id)) return chosen.filter((each) => each !== id);
  return [...chosen, id].slice(-2);
}

/**
 * What goes left and what right: older before newer, the editor after any submission, the
 * reference last. `ids` are the submissions, newest first.
 */
export function leftToRight(chosen: readonly string[], ids: readonly string[]): string[] {
  const age = (id: string) => {
    if (id === REFERENCE) return -2;
    return id === EDITOR ? -1 : ids.indexOf(id);
  };
  return [...chosen].sort((a, b) => age(b) - age(a));
}

/** The names of both, those of the left first. */
export function fileNames(left: Version, right: Version): string[] {
  return [...new Set([...Object.keys(left.files), ...Object.keys(right.files)])];
}
