/** Names of files with the student's own tests: what pytest finds, in the folder the judge takes. */

const FOLDER = "tests/";
const FORM = /^tests\/test_[A-Za-z0-9_]*\.py$/;
const LONGEST = 120;

export const isTestFile = (name: string): boolean => FORM.test(name) && name.length <= LONGEST;

/** What a student types, "own" or "test_own.py", as the name of a file of tests. */
export function testFile(typed: string): string {
  const word = typed
    .trim()
    .replace(/^tests\//, "")
    .replace(/\.py$/, "")
    .replace(/^test_/, "");
  return `${FOLDER}test_${word}.py`;
}

/** Why a file cannot have this name, as a sentence; null when it can. */
export function nameFault(name: string, taken: readonly string[]): string | null {
  if (!isTestFile(name)) {
    return "A name is made of letters without accents, digits and underscores.";
  }
  return taken.includes(name) ? `There is a ${name} already.` : null;
}

/** A name that is free: `tests/test_more.py`, then `tests/test_more_2.py` and so on. */
export function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = `${FOLDER}test_more${number > 1 ? `_${number}` : ""}.py`;
    if (!taken.includes(name)) return name;
  }
}
