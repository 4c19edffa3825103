/** Longer names may be broken in a narrow column; these are not. */
const SHORT = 12;

/** Whether no line of a table is too narrow for any word of this code. */
export function isShortCode(code: string): boolean {
  return code.split(/\s+/).every((word) => word.length <= SHORT);
}
