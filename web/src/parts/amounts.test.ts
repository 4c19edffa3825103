import { expect, test } from "vitest";

import { bytes, counted, measure, passRate, percent, roughly, seconds } from "./amounts";

test("times are short", () => {
  expect([seconds(340), seconds(9994), seconds(12_400)]).toEqual(["0.34 s", "9.99 s", "12 s"]);
  expect([roughly(400), roughly(21_000), roughly(150_000)]).toEqual([
    "about 1 s",
    "about 20 s",
    "about 3 min",
  ]);
});

test("a score is 100 % only when nothing is missing", () => {
  expect([percent(0), percent(0.999), percent(1)]).toEqual(["0 %", "99 %", "100 %"]);
});

test("memory is in units of 1024", () => {
  expect([bytes(512 * 2 ** 20), bytes(1000), bytes(1536)]).toEqual([
    "512 MiB",
    "1000 bytes",
    "1.5 KiB",
  ]);
  expect([bytes(65_536), bytes(1_610_612_736)]).toEqual(["64 KiB", "1.5 GiB"]);
});

test("errors have three digits, and may be no numbers", () => {
  expect([measure(0.14025), measure(1.2e-9), measure("NaN")]).toEqual(["0.14", "1.2e-9", "NaN"]);
});

test("one is one", () => {
  expect([counted(1, "check"), counted(8, "check")]).toEqual(["1 check", "8 checks"]);
  expect(passRate({ tried: 12, solved: 7 })).toBe("7 of 12 students solved it");
  expect(passRate({ tried: 1, solved: 1 })).toBe("1 of 1 student solved it");
});
