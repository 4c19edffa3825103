import "./KeysDialog.css";

import type { Ref } from "preact";
import { useImperativeHandle, useRef } from "preact/hooks";

import { ALT, MODIFIER } from "./platform";

/** Opens the list of keys. */
export interface KeysHandle {
  open: () => void;
}

interface Key {
  keys: string[];
  does: string;
}

const GROUPS: { title: string; keys: Key[] }[] = [
  {
    title: "Everywhere",
    keys: [{ keys: ["?"], does: "Show these keys" }],
  },
  {
    title: "In the list of exercises",
    keys: [
      { keys: ["/"], does: "Search" },
      { keys: ["j"], does: "Go to the next exercise" },
      { keys: ["k"], does: "Go to the one before" },
    ],
  },
  {
    title: "In an exercise",
    keys: [
      { keys: [MODIFIER, "Enter"], does: "Run the examples" },
      { keys: [MODIFIER, "Shift", "Enter"], does: "Submit" },
      { keys: [MODIFIER, ALT, "Enter"], does: "Grade your own tests, where it takes them" },
      { keys: [MODIFIER, "S"], does: "Format and keep the draft" },
      { keys: ["g", "s"], does: "Go to the statement" },
      { keys: ["g", "h"], does: "Go to the history" },
      { keys: ["g", "c"], does: "Go to the code" },
    ],
  },
  {
    title: "On a line between panes",
    keys: [
      { keys: ["←", "→", "↑", "↓"], does: "Move it" },
      { keys: ["Home"], does: "Make the first pane smallest" },
      { keys: ["End"], does: "Make the first pane largest" },
    ],
  },
  {
    title: "In the editor",
    keys: [
      { keys: ["Esc", "Tab"], does: "Leave the editor" },
      { keys: ["Ctrl", "Space"], does: "Complete a name" },
      { keys: [MODIFIER, "F"], does: "Find" },
      { keys: [MODIFIER, "/"], does: "Comment lines in or out" },
    ],
  },
];

/** All shortcuts, in a dialog. */
export function KeysDialog({ handle }: { handle: Ref<KeysHandle> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useImperativeHandle(
    handle,
    () => ({
      open: () => {
        dialog.current?.showModal();
      },
    }),
    [],
  );
  const close = () => {
    dialog.current?.close();
  };
  return (
    <dialog
      ref={dialog}
      class="keys-dialog"
      aria-labelledby="keys-dialog-title"
      onClick={(event) => {
        // Its padding belongs to what is inside: a click on the dialog itself is one beside it.
        if (event.target === event.currentTarget) close();
      }}
    >
      <div class="keys-dialog-sheet">
        <div class="keys-dialog-top">
          <h2 id="keys-dialog-title">Keys</h2>
          <button type="button" class="button plain" onClick={close}>
            Close <kbd>Esc</kbd>
          </button>
        </div>
        {GROUPS.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys.map((key) => (
                <div key={key.does}>
                  <dt>
                    {key.keys.map((each) => (
                      <kbd key={each}>{each}</kbd>
                    ))}
                  </dt>
                  <dd>{key.does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p class="quiet">Single keys are for the page; in the editor and in fields they type.</p>
      </div>
    </dialog>
  );
}
