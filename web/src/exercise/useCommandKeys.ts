import { useLayoutEffect, useRef } from "preact/hooks";

interface CommandKeys {
  run: () => void;
  submit: () => void;
  format: () => void;
}

/** Run, submit and format from outside the editor; inside, it has the same keys itself. */
export function useCommandKeys(commands: CommandKeys): void {
  const current = useRef(commands);
  current.current = commands;
  // Before the editor can be seen: whoever sees it may press its keys.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      if (event.target instanceof Element && event.target.closest(".cm-editor")) return;
      const command = commandOf(event);
      if (command === null) return;
      event.preventDefault();
      if (!event.repeat) current.current[command]();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
    };
  }, []);
}

function commandOf({ key, shiftKey }: KeyboardEvent): keyof CommandKeys | null {
  if (key === "Enter") return shiftKey ? "submit" : "run";
  if (key.toLowerCase() === "s" && !shiftKey) return "format";
  return null;
}
