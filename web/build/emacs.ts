import type { Plugin } from "vite";

/** Marks of statements: of what nobody takes the result, and which would thus be left out. */
const PURE_STATEMENTS = /^(\s*)\/\*@__PURE__\*\//gm;

/** Keep the calls by which Emacs's keys get their commands: their package calls them pure. */
export function keepEmacsKeys(): Plugin {
  return {
    name: "keep-emacs-keys",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("/@replit/codemirror-emacs/")) return;
      const kept = code.replace(PURE_STATEMENTS, "$1");
      if (kept === code)
        this.error("there is no mark to remove: is the package another one by now?");
      return kept;
    },
  };
}
