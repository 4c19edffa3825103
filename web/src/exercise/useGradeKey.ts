import { useLayoutEffect, useRef } from "preact/hooks";

/** Grade tests by its key from outside the editor; inside, the editor has the same key itself. */
export function useGradeKey(grade: () => void): void {
  const current = useRef(grade);
  current.current = grade;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isKey = event.key === "Enter" && event.altKey && !event.shiftKey;
      if (event.defaultPrevented || !isKey || !(event.ctrlKey || event.metaKey)) return;
      if (document.querySelector("dialog[open]")) return;
      if (event.target instanceof Element && event.target.closest(".cm-editor")) return;
      event.preventDefault();
      if (!event.repeat) current.current();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
    };
  }, []);
}
