import "./ThemeSwitch.css";

import { Icon } from "./Icon";
import { chooseTheme, theme, THEMES, type Theme } from "./theme";

const WORDS: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };

/** System, light or dark. */
export function ThemeSwitch() {
  return (
    <label class="theme-switch">
      <Icon name="theme" />
      <span class="visually-hidden">Theme</span>
      <select
        value={theme()}
        onChange={(event) => {
          const { value } = event.currentTarget;
          chooseTheme(THEMES.find((each) => each === value) ?? "system");
        }}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {WORDS[each]}
          </option>
        ))}
      </select>
    </label>
  );
}
