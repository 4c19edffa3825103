import { expect, test } from "vitest";

import { limitsInWords } from "./words";

test("limits are named with their unit", () => {
  const limits = {
    wall_s: 10,
    cpu_s: 30,
    memory_bytes: 536_870_912,
    output_bytes: 1_048_576,
    source_bytes: 65_536,
  };
  expect(limitsInWords(limits)).toBe("10 s for each tier, 512 MiB of memory");
});
