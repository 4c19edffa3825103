/** After a navigation the focus goes to the heading, so that a screen reader starts there. */

const PATIENCE_MS = 10_000;
let stopWaiting: () => void = () => undefined;

/** Focus the page's heading, as soon as there is one and unless the reader has gone elsewhere. */
export function focusHeading(page: HTMLElement): void {
  stopWaiting();
  if (focus(page)) return;
  const watch = new MutationObserver(() => {
    if (focus(page)) stopWaiting();
  });
  const patience = setTimeout(() => {
    stopWaiting();
  }, PATIENCE_MS);
  stopWaiting = () => {
    watch.disconnect();
    clearTimeout(patience);
    removeEventListener("keydown", stopWaiting);
    removeEventListener("pointerdown", stopWaiting);
  };
  addEventListener("keydown", stopWaiting);
  addEventListener("pointerdown", stopWaiting);
  watch.observe(page, { childList: true, subtree: true });
}

function focus(page: HTMLElement): boolean {
  const heading = page.querySelector("h1");
  if (!heading) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  return true;
}
