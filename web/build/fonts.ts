import type { Plugin } from "vite";

const OLDER_FORMS = /,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("(?:woff|truetype)"\)/g;

/** Keep only the WOFF2 of KaTeX's fonts: every browser that runs the page reads it. */
export function woff2Only(): Plugin {
  return {
    name: "woff2-only",
    enforce: "pre",
    transform(code, id) {
      return /katex.*\.css$/.test(id) ? code.replace(OLDER_FORMS, "") : undefined;
    },
  };
}
