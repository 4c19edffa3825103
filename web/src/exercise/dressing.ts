/** What a statement's HTML gains before it is shown: boxes to scroll in, links that open safely. */
import { copied } from "../parts/clipboard";
import { isShortCode } from "./code";
import { inputOf } from "./interpreter";

interface Dressed {
  content: DocumentFragment;
  /** What may be wider than its column, with a word for it. */
  scrollable: (readonly [HTMLElement, string])[];
}

/** Safe HTML as nodes. */
export function dressed(html: string): Dressed {
  const template = document.createElement("template");
  template.innerHTML = html;
  const { content } = template;
  const tables = [...content.querySelectorAll("table")].map(boxed);
  for (const table of content.querySelectorAll("table")) nameRows(table);
  for (const code of content.querySelectorAll("table code")) {
    if (isShortCode(code.textContent)) code.classList.add("short-code");
  }
  for (const link of content.querySelectorAll("a")) openBeside(link);
  const blocks = [...content.querySelectorAll<HTMLElement>("pre")];
  for (const block of blocks) offerInput(block);
  for (const formula of content.querySelectorAll(".math.inline")) holdMarks(formula);
  const formulas = [...content.querySelectorAll<HTMLElement>(".math.block")];
  return {
    content,
    scrollable: [
      ...tables.map((box) => [box, "Table"] as const),
      ...blocks.map((box) => [box, "Code"] as const),
      ...formulas.map((box) => [box, "Formula"] as const),
    ],
  };
}

/** HTML before a heading of the outermost level, and from it on; all of it is "before" without one. */
export function splitBefore(html: string, headingId: string): { before: string; after: string } {
  const template = document.createElement("template");
  template.innerHTML = html;
  const parts = { before: "", after: "" };
  let part: keyof typeof parts = "before";
  for (const child of template.content.children) {
    if (child.id === headingId) part = "after";
    parts[part] += `${child.outerHTML}\n`;
  }
  return parts;
}

function boxed(table: HTMLTableElement): HTMLElement {
  const box = document.createElement("div");
  box.className = "statement-scroll";
  table.replaceWith(box);
  box.append(table);
  return box;
}

const MARKS = /^[,.;:!?)\]]+/;

/** What ends a sentence or a part of one stays on the line of the formula: WebKit would break. */
function holdMarks(formula: Element): void {
  const text = formula.nextSibling;
  const marks = text instanceof Text ? MARKS.exec(text.data)?.[0] : undefined;
  if (!(text instanceof Text) || marks === undefined) return;
  text.splitText(marks.length);
  const held = document.createElement("span");
  held.className = "with-marks";
  formula.replaceWith(held);
  held.append(formula, text);
}

/** Markdown wants a row of headings, even of empty ones: those are no headings. */
function nameRows(table: HTMLTableElement): void {
  const headings = [...table.querySelectorAll("th")];
  if (headings.every((heading) => isEmpty(heading))) table.tHead?.remove();
  for (const heading of headings) {
    if (isEmpty(heading)) heading.replaceWith(document.createElement("td"));
    else heading.scope = "col";
  }
}

/** A session with the interpreter has a button that copies what was typed in it. */
function offerInput(block: HTMLElement): void {
  const input = inputOf(block.textContent);
  if (input === "") return;
  const box = document.createElement("div");
  box.className = "statement-session";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button plain";
  button.textContent = COPY;
  button.title = "Copy the lines without prompts and answers";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => {
    void copyInput(button, input);
  });
  block.replaceWith(box);
  box.append(block, button);
}

const COPY = "Copy input";
const SHOWN_MS = 2000;

async function copyInput(button: HTMLButtonElement, input: string): Promise<void> {
  button.textContent = (await copied(input)) ? "Copied" : "The browser does not allow it";
  setTimeout(() => {
    button.textContent = COPY;
  }, SHOWN_MS);
}

const isEmpty = (element: Element): boolean => element.textContent.trim() === "";

function openBeside(link: HTMLAnchorElement): void {
  if (link.getAttribute("href")?.startsWith("#")) return;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  const note = document.createElement("span");
  note.className = "visually-hidden";
  note.textContent = " (opens in a new tab)";
  link.append(note);
}
