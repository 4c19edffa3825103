/** What a language server says as HTML, reduced to text and code: it quotes what anybody wrote. */

const KEPT = new Set(["BR", "CODE", "EM", "HR", "LI", "OL", "P", "PRE", "SPAN", "STRONG", "UL"]);
const WITHOUT_CONTENT = new Set(["IFRAME", "SCRIPT", "STYLE", "TEMPLATE", "TITLE"]);
// Classes of the highlighter, which colour code; names of the page's own classes have no such letter.
const HIGHLIGHTING = /^(ͼ\w+ ?)+$/;

/** The same text with no element, attribute or address but those of text and code. */
export function inert(html: string): string {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const safe = document.implementation.createHTMLDocument().createElement("div");
  safe.append(...copies(body, safe.ownerDocument));
  return safe.innerHTML;
}

// Made anew rather than cleaned: what is not copied cannot stay.
function copies(parent: Node, into: Document): Node[] {
  return [...parent.childNodes].flatMap((node) => {
    if (node instanceof Text) return [into.createTextNode(node.data)];
    if (!(node instanceof Element) || WITHOUT_CONTENT.has(node.tagName)) return [];
    if (!KEPT.has(node.tagName)) return copies(node, into);
    const copy = into.createElement(node.tagName);
    if (HIGHLIGHTING.test(node.className)) copy.className = node.className;
    copy.append(...copies(node, into));
    return [copy];
  });
}
