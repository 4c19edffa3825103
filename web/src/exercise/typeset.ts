/** KaTeX, a chunk of its own. */
import "katex/dist/katex.min.css";

import katex from "katex";

/** Replace the TeX inside an element by the formula; what is not TeX stays, in the error's colour. */
export function typeset(formula: HTMLElement): void {
  katex.render(formula.textContent.trim(), formula, {
    displayMode: formula.classList.contains("block"),
    output: "htmlAndMathml",
    throwOnError: false,
    errorColor: "var(--fail)",
    strict: "ignore",
    trust: false,
    maxExpand: 1000,
    maxSize: 20,
  });
}
