import "./BrokenFolders.css";

import type { Catalogue } from "../api/types";
import { Coded } from "../parts/Coded";

/** Problem folders that are not valid now, for whoever writes them at the judge's own machine. */
export function BrokenFolders({ broken }: { broken: Catalogue["broken"] }) {
  if (broken.length === 0) return null;
  return (
    <section class="broken" aria-labelledby="broken-title">
      <h2 id="broken-title">Folders that are not valid</h2>
      <p class="quiet">
        Only you see this, at the judge's own machine. Students see the last valid version, if there
        was one.
      </p>
      {broken.map(({ slug, faults }) => (
        <div key={slug} class="broken-folder">
          <h3>{slug}</h3>
          <ul>
            {faults.map((fault, index) => (
              <li key={index}>
                <code class="broken-place">{`${fault.file}:${fault.line}`}</code>
                <p>
                  <Coded text={fault.message} />
                </p>
                <p class="quiet">
                  To mend it: <Coded text={fault.remedy} />
                </p>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
