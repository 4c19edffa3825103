import { pythonLanguage } from "@codemirror/lang-python";
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import type { VNode } from "preact";

import { useScrollable } from "./scrolling";

// The classes that code in statements has, so that one set of colours serves both.
const classes = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.bool, tags.null], class: "k" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], class: "nf" },
  { tag: tags.string, class: "s" },
  { tag: tags.number, class: "mi" },
  { tag: tags.comment, class: "c1" },
]);

/** Python source, coloured, to be read. */
export function PythonCode({ source, label }: { source: string; label: string }) {
  const box = useScrollable<HTMLPreElement>(label);
  const pieces: (string | VNode)[] = [];
  highlightCode(
    source,
    pythonLanguage.parser.parse(source),
    classes,
    (text, name) => {
      pieces.push(name === "" ? text : <span class={name}>{text}</span>);
    },
    () => {
      pieces.push("\n");
    },
  );
  return (
    <pre class="highlight" ref={box}>
      <code>{pieces}</code>
    </pre>
  );
}
