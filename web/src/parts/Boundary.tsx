import "./Boundary.css";

import { Component, type ComponentChildren } from "preact";

interface Props {
  /** What is inside, as the beginning of a sentence: "This page", "The results pane". */
  what: string;
  /** When this changes, what is inside gets another chance. */
  of?: string;
  children: ComponentChildren;
}

interface State {
  failed: boolean;
  of: string | undefined;
}

/** Keeps a failure inside: the rest of the page goes on, and words stand where it was. */
export class Boundary extends Component<Props, State> {
  override state: State = { failed: false, of: this.props.of };

  static override getDerivedStateFromError(): Partial<State> {
    return { failed: true };
  }

  static override getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.of === state.of ? null : { failed: false, of: props.of };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    return this.state.failed ? <Failure what={this.props.what} /> : this.props.children;
  }
}

/** Words for what cannot be shown, and the way out. */
export function Failure({ what }: { what: string }) {
  return (
    <div class="failure" role="alert">
      <p>{what} failed. Your draft is kept.</p>
      <button
        type="button"
        class="button"
        onClick={() => {
          location.reload();
        }}
      >
        Reload the page
      </button>
    </div>
  );
}
