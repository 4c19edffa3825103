/** What makes a tab an editor for Python. */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completeFromList,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  crosshairCursor,
  drawSelection,
  dropCursor,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
  rectangularSelection,
} from "@codemirror/view";

import { type Commands, commandKeys, commands, formatKey } from "./commands";
import { marks } from "./marks";
import type { Tab } from "./tabs";
import { theme } from "./theme";

/** What comes later, or changes: keys of another editor, findings, the language server, names. */
export const keysPart = new Compartment();
export const findingsPart = new Compartment();
export const languagePart = new Compartment();
export const namePart = new Compartment();

const LEAVING = "Tab indents. Press Escape and then Tab to leave the editor.";

/** Extensions of a tab; `names` are defined for the student besides what Python has. */
export function extensionsOf(tab: Tab, names: readonly string[], does: Commands): Extension {
  return [
    commands.of(does),
    // Vim and Emacs see keys before any binding does, so they stand before the first of them.
    keysPart.of([]),
    commandKeys,
    formatKey,
    theme,
    marks,
    editing,
    tab.kind === "provided" ? EditorState.readOnly.of(true) : [],
    placeholderOf(tab),
    pythonLanguage.data.of({
      autocomplete: completeFromList(names.map((label) => ({ label, type: "function" }))),
    }),
    findingsPart.of([]),
    languagePart.of([]),
    namePart.of(nameOf(tab)),
  ];
}

/** What the editor is called. */
export const nameOf = (tab: Tab): Extension => EditorView.contentAttributes.of(attributesOf(tab));

function placeholderOf({ kind, isAdded }: Tab): Extension {
  if (kind === "scratch") return placeholder("# Try things here: Run runs this after your code.");
  return isAdded ? placeholder("# More tests: functions test_…, with plain asserts.") : [];
}

function attributesOf(tab: Tab): Record<string, string> {
  return {
    "aria-label": tab.kind === "provided" ? `${tab.title}, already defined` : tab.title,
    "aria-description": LEAVING,
    "aria-readonly": String(tab.kind === "provided"),
    // Editable text has the focus anyway; this tells those who look for it in the attributes.
    tabindex: "0",
    // No browser, keyboard or add-on is to correct, translate or complete code as if it were prose.
    spellcheck: "false",
    autocorrect: "off",
    autocapitalize: "off",
    autocomplete: "off",
    writingsuggestions: "false",
    translate: "no",
    "data-gramm": "false",
  };
}

const editing: Extension = [
  lineNumbers(),
  highlightActiveLineGutter(),
  highlightActiveLine(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  dropCursor(),
  rectangularSelection(),
  crosshairCursor(),
  EditorState.allowMultipleSelections.of(true),
  EditorState.tabSize.of(4),
  indentUnit.of("    "),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  // Its keys are below: by themselves they would come before Vim's and take its Escape.
  autocompletion({ icons: false, defaultKeymap: false }),
  highlightSelectionMatches(),
  search({ top: true }),
  python(),
  keymap.of([
    { key: "Tab", run: acceptCompletion },
    ...completionKeymap,
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    indentWithTab,
  ]),
];
