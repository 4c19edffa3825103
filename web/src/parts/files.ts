/** A student's files: their texts by name. */
type Files = Record<string, string>;

export function sameFiles(one: Files, other: Files): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}
