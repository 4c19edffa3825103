import { expect, test } from "vitest";

import { counted, limitsInWords, passRateInWords, size } from "./words";

test("sizes are in the largest unit that fits", () => {
  expect(size(512)).toBe("512 bytes");
  expect(size(65_536)).toBe("64 KiB");
  expect(size(536_870_912)).toBe("512 MiB");
  expect(size(1_610_612_736)).toBe("1.5 GiB");
});

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

test("there is no pass rate before enough have tried", () => {
  expect(passRateInWords(null)).toBeNull();
  expect(passRateInWords({ tried: 40, solved: 12 })).toBe("solved by 12 of 40 who tried");
});

test("one is one", () => {
  expect(counted(1, "check")).toBe("1 check");
  expect(counted(8, "check")).toBe("8 checks");
});
