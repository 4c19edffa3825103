/** How the editor looks: the page's tokens, which know both themes, on CodeMirror's classes. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const code = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.self, tags.bool, tags.null],
    color: "var(--code-keyword)",
  },
  {
    tag: [
      tags.function(tags.definition(tags.variableName)),
      tags.definition(tags.className),
      tags.className,
      tags.meta,
    ],
    color: "var(--code-name)",
  },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.escape], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--fail)" },
]);

const chosen = { background: "var(--accent-soft)", color: "var(--ink)" };
const control = {
  border: "1px solid var(--edge)",
  borderRadius: "4px",
  background: "var(--sheet)",
  color: "var(--ink)",
  font: "var(--small)",
};

/** One property each: WebKit does not know them in one. */
const underlined = (style: string, color: string) => ({
  textDecorationLine: "underline",
  textDecorationStyle: style,
  textDecorationColor: color,
});

// What CodeMirror colours by itself is named here once more: it would choose by a theme of its own.
const surfaces = EditorView.theme({
  "&": { height: "100%", background: "var(--sheet)", color: "var(--ink)", font: "var(--code)" },
  "&.cm-focused": { outline: "none" },
  // Over the gutter and the active line too, which an outline would lie under.
  "&.cm-focused::after": {
    content: '""',
    position: "absolute",
    inset: "0",
    zIndex: "300",
    border: "1px solid var(--accent)",
    pointerEvents: "none",
  },
  ".cm-scroller": { font: "var(--code)", overflow: "auto" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-placeholder": { color: "var(--quiet)" },
  ".cm-gutters": { background: "var(--sheet)", color: "var(--quiet)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "40px", padding: "0 8px 0 4px" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--sunken) 60%, transparent)" },
  ".cm-activeLineGutter": { background: "var(--sunken)", color: "var(--ink)" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "var(--accent-soft)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 24%, var(--sheet))",
  },
  ".cm-selectionMatch": { background: "var(--accent-soft)" },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": {
    background: "var(--accent-soft)",
    outline: "1px solid var(--accent)",
  },
  "&.cm-focused .cm-nonmatchingBracket, .cm-nonmatchingBracket": {
    background: "var(--fail-soft)",
    outline: "1px solid var(--fail)",
  },
  ".cm-searchMatch": { background: "var(--limit-soft)", outline: "1px solid var(--limit)" },
  ".cm-searchMatch-selected": { background: "var(--accent-soft)", outlineColor: "var(--accent)" },
  ".cm-panels": { background: "var(--sunken)", color: "var(--ink)", font: "var(--small)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "4px 32px 4px 8px" },
  ".cm-panel.cm-search label, .cm-panel.cm-search .cm-button": { font: "var(--small)" },
  ".cm-panel button[name=close], .cm-dialog-close": {
    color: "var(--quiet)",
    minWidth: "24px",
    minHeight: "24px",
  },
  ".cm-textfield": { ...control, padding: "2px 6px" },
  ".cm-button": { ...control, backgroundImage: "none", padding: "2px 8px", cursor: "pointer" },
  ".cm-button:hover": { background: "var(--sunken)" },
  ".cm-tooltip": {
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius)",
    background: "var(--sheet)",
    color: "var(--ink)",
    font: "var(--small)",
    overflow: "hidden",
  },
  ".cm-tooltip-hover": { maxWidth: "min(640px, 92vw)", maxHeight: "40vh", overflow: "auto" },
  ".cm-tooltip-section:not(:first-child)": { borderTop: "1px solid var(--line)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "var(--code)", maxHeight: "220px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": chosen,
  ".cm-tooltip.cm-completionInfo": {
    padding: "8px",
    maxWidth: "400px",
    maxHeight: "40vh",
    overflow: "auto",
  },
  ".cm-completionMatchedText": { color: "var(--accent)", textDecoration: "none" },
  ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal" },
  ".cm-snippetField": { background: "var(--accent-soft)" },
  ".cm-snippetFieldPosition": { borderLeftColor: "var(--edge)" },
  ".cm-specialChar": { color: "var(--fail)" },

  // Findings: a line of their own colour under the text; the tooltip and the panel have the words.
  ".cm-lintRange": { backgroundImage: "none", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": underlined("wavy", "var(--fail)"),
  ".cm-lintRange-warning": underlined("wavy", "var(--limit)"),
  ".cm-lintRange-info, .cm-lintRange-hint": underlined("dotted", "var(--quiet)"),
  ".cm-lintRange-active": { background: "var(--limit-soft)" },
  ".cm-lintPoint::after": { borderBottomColor: "var(--limit)" },
  ".cm-lintPoint-error::after": { borderBottomColor: "var(--fail)" },
  ".cm-diagnostic": { padding: "4px 12px", marginLeft: "0", borderLeft: "4px solid var(--quiet)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--fail)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--limit)" },
  ".cm-diagnosticText": { display: "block" },
  ".cm-diagnosticSource": { color: "var(--quiet)", fontSize: "inherit", opacity: "1" },
  ".cm-diagnosticAction": {
    ...control,
    display: "inline-block",
    margin: "4px 0",
    padding: "2px 8px",
  },
  // A list's options hold no buttons, to who cannot see them. The fix at the cursor has a key.
  ".cm-panel-lint .cm-diagnosticAction": { display: "none" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": chosen,
  ".cm-panel.cm-panel-lint ul:focus [aria-selected]": chosen,

  ".cm-lsp-documentation": { padding: "4px 12px", font: "var(--code)", whiteSpace: "pre-wrap" },
  ".cm-tooltip .cm-lsp-documentation": { fontSize: "12px" },
  ".cm-lsp-documentation pre": { font: "var(--code)", whiteSpace: "pre-wrap", margin: "4px 0" },
  ".cm-tooltip.cm-lsp-signature-tooltip": {
    padding: "4px 12px",
    maxWidth: "min(640px, 92vw)",
    overflow: "auto",
  },
  ".cm-lsp-signature-tooltip .cm-lsp-signature": { font: "var(--code)" },
  ".cm-lsp-signature-tooltip .cm-lsp-active-parameter": { color: "var(--accent)" },

  ".cm-fat-cursor, &.cm-focused .cm-fat-cursor": {
    background: "var(--accent)",
    color: "var(--on-accent) !important",
  },
  "&:not(.cm-focused) .cm-fat-cursor": {
    background: "none",
    outline: "1px solid var(--accent)",
    color: "transparent !important",
  },
  ".cm-vim-panel, .cm-vim-panel input": { font: "var(--code)", color: "var(--ink)" },

  // Where an exception came from.
  ".cm-revealed": { background: "var(--fail-soft)" },
  ".cm-failed": { position: "relative", color: "var(--fail)", background: "var(--fail-soft)" },
  ".cm-failed::before": { content: '"✗"', position: "absolute", left: "4px" },
});

/** Colours of the code and of everything around it. */
export const theme = [surfaces, syntaxHighlighting(code)];
