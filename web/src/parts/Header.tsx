import "./Header.css";

import type { Ref } from "preact";

import { Icon } from "./Icon";
import { KeysDialog, type KeysHandle } from "./KeysDialog";
import { place, type Step } from "./place";
import { ThemeSwitch } from "./ThemeSwitch";

/** Where the page is, its neighbours, and what holds everywhere: the theme and the keys. */
export function Header({ keys }: { keys: Ref<KeysHandle> & { current: KeysHandle | null } }) {
  const here = place.value;
  return (
    <header class="header">
      <a class="header-skip" href="#main">
        Skip to the content
      </a>
      <nav class="header-trail" aria-label="Where this is">
        <ol>
          <li>
            <a href="/" class="header-home">
              judge
            </a>
          </li>
          {here?.trail.map((step) => (
            <li key={step.href}>
              <a href={step.href}>{step.title}</a>
            </li>
          ))}
          {here && (
            <li class="header-here">
              <span aria-current="page">{here.title}</span>
            </li>
          )}
        </ol>
      </nav>
      {here && (here.previous ?? here.next) && (
        <nav class="header-row" aria-label="Neighbours">
          <Neighbour step={here.previous} rel="prev" />
          <Neighbour step={here.next} rel="next" />
        </nav>
      )}
      <ThemeSwitch />
      <button
        type="button"
        class="button plain header-keys"
        aria-haspopup="dialog"
        onClick={() => {
          keys.current?.open();
        }}
      >
        <Icon name="keys" />
        <span class="header-word">Keys</span>
        <kbd>?</kbd>
      </button>
      <KeysDialog handle={keys} />
    </header>
  );
}

function Neighbour({ step, rel }: { step: Step | null; rel: "prev" | "next" }) {
  const word = <span class="header-word">{rel === "prev" ? "Previous" : "Next"}</span>;
  // What leads nowhere keeps its place, so that the other one does not move under the hand.
  if (!step) return <span class={`button plain header-${rel} is-off`} aria-hidden="true" />;
  const label = `${rel === "prev" ? "Previous" : "Next"}: ${step.title}`;
  return (
    <a
      class={`button plain header-${rel}`}
      href={step.href}
      rel={rel}
      title={step.title}
      aria-label={label}
    >
      {rel === "prev" && <Icon name="chevron" />}
      {word}
      {rel === "next" && <Icon name="chevron" />}
    </a>
  );
}
