import "./TestFileActions.css";

import { useEffect, useId, useRef, useState } from "preact/hooks";

import { Icon } from "../parts/Icon";
import type { Session } from "./session";
import type { Tab } from "./tabs";
import { testFile } from "./testFiles";

interface Props {
  tab: Tab;
  session: Session;
}

/** More files for one's own tests: add one, rename or remove the one that is shown. */
export function TestFileActions({ tab, session }: Props) {
  const [renaming, setRenaming] = useState(false);
  if (renaming) {
    return (
      <Renaming
        tab={tab}
        session={session}
        onEnd={() => {
          setRenaming(false);
          session.focus();
        }}
      />
    );
  }
  return (
    <div class="test-files" role="group" aria-label="Files of tests">
      {tab.isAdded && (
        <>
          <button
            type="button"
            class="button plain"
            onClick={() => {
              setRenaming(true);
            }}
          >
            Rename
          </button>
          <button
            type="button"
            class="button plain"
            onClick={() => {
              session.remove();
            }}
          >
            Remove
          </button>
        </>
      )}
      <button
        type="button"
        class="button plain"
        title="Add a file of tests"
        onClick={() => {
          session.addTests();
        }}
      >
        <Icon name="add" />
        <span>Add tests</span>
      </button>
    </div>
  );
}

interface RenamingProps extends Props {
  onEnd: () => void;
}

function Renaming({ tab, session, onEnd }: RenamingProps) {
  const id = useId();
  const [typed, setTyped] = useState(() => tab.file.replace(/^tests\/test_|\.py$/g, ""));
  const [fault, setFault] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.select();
  }, []);
  return (
    <div class="test-files">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const refused = session.rename(testFile(typed));
          if (refused === null) onEnd();
          else setFault(refused);
        }}
        onKeyDown={({ key }) => {
          if (key === "Escape") onEnd();
        }}
      >
        <label for={id}>
          <span class="visually-hidden">Name of the file: </span>test_
        </label>
        <input
          id={id}
          value={typed}
          ref={field}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={fault !== ""}
          aria-describedby={`${id}-fault`}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value);
            setFault("");
          }}
        />
        <span aria-hidden="true">.py</span>
        <button type="submit" class="button plain">
          Rename
        </button>
        <button type="button" class="button plain" onClick={onEnd}>
          Cancel
        </button>
      </form>
      <p id={`${id}-fault`} class="test-files-fault" role="alert">
        {fault}
      </p>
    </div>
  );
}
