/** The contract of an exercise, cut into what each name promises. */
import { pythonLanguage } from "@codemirror/lang-python";

interface Declaration {
  name: string;
  /** What the comment above it says, as running text. */
  about: string;
  /** Its signature, with the docstring if it has one. */
  source: string;
}

const DEFINITIONS = new Set(["FunctionDefinition", "ClassDefinition"]);
const EMPTY_LINE = /\n[^\S\n]*\n/;

/** The declarations of `names` in Python source, in the order of `names`. */
export function declarations(contract: string, names: readonly string[]): Declaration[] {
  const found = new Map<string, Declaration>();
  const top = pythonLanguage.parser.parse(contract).topNode;
  let comments: string[] = [];
  let end = 0;
  for (let node = top.firstChild; node; node = node.nextSibling) {
    // An empty line ends a comment: what stands above it speaks of something else.
    if (EMPTY_LINE.test(contract.slice(end, node.from))) comments = [];
    end = node.to;
    const source = contract.slice(node.from, node.to).trimEnd();
    if (node.name === "Comment") {
      comments.push(source);
      continue;
    }
    const definition = node.name === "DecoratedStatement" ? node.lastChild : node;
    const name = definition?.getChild("VariableName");
    if (definition && name && DEFINITIONS.has(definition.name)) {
      const word = contract.slice(name.from, name.to);
      found.set(word, { name: word, about: prose(comments), source });
    }
    comments = [];
  }
  return names.flatMap((name) => found.get(name) ?? []);
}

/** Comment lines as text; what the card says itself is left out. */
function prose(comments: readonly string[]): string {
  const text = comments.map((line) => line.replace(/^#+\s*/, "")).join(" ");
  return text.replace(/^(Required|Provided)\b[^.:]*\.\s*/, "").trim();
}
