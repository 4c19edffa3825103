import "./TestsTable.css";

import { useMemo } from "preact/hooks";

import type { TierToPass } from "../api/types";
import { counted } from "../parts/amounts";
import { placeOfCheck } from "../parts/checkPlace";
import { Coded } from "../parts/Coded";
import { breakable } from "../parts/names";
import { courseTests } from "./tests";

/** The tests of a chapter: what kind each is, where it runs, what it holds and why. */
export function TestsTable({ tiers }: { tiers: readonly TierToPass[] }) {
  const tests = useMemo(() => courseTests(tiers), [tiers]);
  if (tests.length === 0) return null;
  return (
    <table class="course-tests">
      <caption class="visually-hidden">{counted(tests.length, "test")} of this chapter</caption>
      <thead>
        <tr>
          <th scope="col">Test</th>
          <th scope="col">Kind</th>
          <th scope="col">Tier</th>
          <th scope="col">What it holds</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {tests.map((test) => (
          <tr key={test.id} {...placeOfCheck(test.id)}>
            <th scope="row">
              <code>{breakable(test.name)}</code>
              {test.cases > 1 && <span class="quiet"> {test.cases} cases</span>}
            </th>
            <td class="course-tests-kind">{test.kind}</td>
            <td class="course-tests-tier">{test.tier}</td>
            <td>
              <Coded text={test.title} />
            </td>
            <td class="quiet">
              <Coded text={test.why} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
