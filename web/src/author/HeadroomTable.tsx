import "./HeadroomTable.css";

import { useMemo } from "preact/hooks";

import type { Headroom } from "../api/types";
import { Icon } from "../parts/Icon";
import { breakable, testName } from "../parts/names";
import { placeOnStrip, tightestFirst, times } from "./numbers";

/** Of many comparisons those with the least room are what an author looks for. */
const FIRST = 10;

/** How far the reference and the nearest mistake stay away from each limit of a comparison. */
export function HeadroomTable({ headroom }: { headroom: readonly Headroom[] }) {
  const rows = useMemo(() => tightestFirst(headroom), [headroom]);
  if (rows.length === 0) return null;
  return (
    <section class="author-part" aria-labelledby="author-headroom">
      <h3 id="author-headroom">Headroom of tolerances</h3>
      <p class="author-sum">
        Errors as shares of the limit, on a scale of powers of ten; what is too close comes first,
        then the least room.
      </p>
      <Rows rows={rows.slice(0, FIRST)} />
      {rows.length > FIRST && (
        <details class="author-more">
          <summary>
            <Icon name="chevron" /> {rows.length - FIRST} with more room
          </summary>
          <Rows rows={rows.slice(FIRST)} />
        </details>
      )}
    </section>
  );
}

function Rows({ rows }: { rows: readonly Headroom[] }) {
  return (
    <table class="headroom">
      <thead>
        <tr>
          <th scope="col">Comparison</th>
          <th scope="col">
            <span class="headroom-mark is-reference" aria-hidden="true" /> Reference
          </th>
          <td class="headroom-strip-cell" />
          <th scope="col">
            <span class="headroom-mark is-mutant" aria-hidden="true" /> Nearest mistake
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <Row key={at} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row }: { row: Headroom }) {
  const hasMutant = row.nearest_mutant !== "";
  return (
    <tr>
      <th scope="row">
        <code title={row.check}>{breakable(testName(row.check).replace(/^test_/, ""))}</code>
        <span class="quiet">{[row.what, row.dtype].filter((word) => word !== "").join(", ")}</span>
        {row.close !== "" && <b>{row.close}</b>}
      </th>
      <td class="headroom-share">{times(row.reference)}</td>
      <td class="headroom-strip-cell" aria-hidden="true">
        <span class="headroom-strip" style={{ "--limit-at": `${placeOnStrip(1)}%` }}>
          <span
            class="headroom-mark is-reference"
            style={{ left: `${placeOnStrip(row.reference)}%` }}
          />
          {hasMutant && (
            <span
              class="headroom-mark is-mutant"
              style={{ left: `${placeOnStrip(row.nearest)}%` }}
            />
          )}
        </span>
      </td>
      <td class="headroom-share">
        {hasMutant ? (
          <>
            {times(row.nearest)} <code>{row.nearest_mutant}</code>
          </>
        ) : (
          <span class="quiet">none fails by it</span>
        )}
      </td>
    </tr>
  );
}
