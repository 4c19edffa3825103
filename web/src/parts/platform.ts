/** How this computer names its keys. */

const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The key that CodeMirror calls "Mod". */
export const MODIFIER = mac ? "⌘" : "Ctrl";
export const ALT = mac ? "⌥" : "Alt";

/** "Ctrl ⇧ ⏎" or "⌘⇧⏎": as menus of the platform write it. */
export function shortcut(...keys: string[]): string {
  return [MODIFIER, ...keys].join(mac ? "" : " ");
}

/** The same for `aria-keyshortcuts`, which has names of its own. */
export function ariaShortcut(...keys: string[]): string {
  return [mac ? "Meta" : "Control", ...keys].join("+");
}
