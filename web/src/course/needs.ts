/** What is said behind the names of `count` exercises that are not passed yet. */
export function unmetWords(count: number, usesReference: boolean): string {
  const are = count === 1 ? "is" : "are";
  const them = count === 1 ? "it" : "them";
  return usesReference
    ? `${are} not passed yet. The reference stands in for ${them}.`
    : `${are} not passed yet. Pass ${them}, or judge on top of the reference.`;
}
