/** Light, dark, or as the system has it. public/theme.js applies the choice before the first paint. */
import { signal } from "@preact/signals";

import { remember, remembered } from "./storage";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "judge:theme";
const chosen = signal<Theme>(asTheme(remembered(KEY)));

/** What was chosen; read it inside a component to follow it. */
export const theme = (): Theme => chosen.value;

export function chooseTheme(next: Theme): void {
  remember(KEY, next === "system" ? null : next);
  apply(next);
}

/** Follow the choice that is made in another tab. */
export function followOtherTabs(): void {
  addEventListener("storage", (event) => {
    if (event.key === KEY) apply(asTheme(event.newValue));
  });
}

function apply(next: Theme): void {
  const root = document.documentElement;
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  chosen.value = next;
}

function asTheme(value: string | null): Theme {
  return THEMES.find((each) => each === value) ?? "system";
}
