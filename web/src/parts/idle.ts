/** Call `start` once the browser has nothing else to do. */
export function whenIdle(start: () => void): void {
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === "function") requestIdleCallback(start);
  else setTimeout(start, 1000);
}
