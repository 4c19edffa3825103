/** Where a check is shown, so that what speaks of it can lead there. */

/** "t1::test_sizes[3]" is a case of "t1::test_sizes", which is what authors name. */
export const isCaseOf = (id: string, check: string): boolean =>
  id === check || id.startsWith(`${check}[`);

/** The part of the page that stands for a check has its id here. */
export const placeOfCheck = (id: string) => ({ "data-check": id, tabIndex: -1 });

/** Open what hides the first case of a check inside `root`, scroll there and focus it. */
export function goToCheck(root: ParentNode, check: string): boolean {
  const places = [...root.querySelectorAll<HTMLElement>("[data-check]")];
  const place = places.find(({ dataset }) => isCaseOf(dataset.check ?? "", check));
  if (!place) return false;
  for (let at: HTMLElement | null = place; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  const target = place.querySelector<HTMLElement>(":scope > summary") ?? place;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
  return true;
}
