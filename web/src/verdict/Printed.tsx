import "./Printed.css";

import type { Output } from "../api/types";

/** What the submission printed: text and nothing else, in a window of its own. */
export function Printed({ output }: { output: Output }) {
  return (
    <section class="printed">
      <h3 id="printed-title">Printed output</h3>
      {output.text ? (
        <pre role="region" aria-labelledby="printed-title" tabIndex={0}>
          {output.text}
        </pre>
      ) : (
        <p class="quiet">Nothing was printed.</p>
      )}
      {output.truncated && <p class="quiet">It printed more. Only the beginning is kept.</p>}
    </section>
  );
}
