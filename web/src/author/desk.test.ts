import { expect, test } from "vitest";

import type { AuthorListener } from "../api/events";
import type { AuthorNews, Proof } from "../api/types";
import { Desk } from "./desk";

/** Stands in for the judge: tells what a test wants, and counts what is asked. */
class Judge {
  asked = 0;
  isAway = false;
  ended = false;
  listener: AuthorListener | null = null;

  listen = (_slug: string, listener: AuthorListener) => {
    this.listener = listener;
    return () => {
      this.ended = true;
    };
  };

  proof = (): Promise<Proof | null> => {
    this.asked += 1;
    if (this.isAway) return Promise.resolve(null);
    return Promise.resolve({ version: `${this.asked}` } as Proof);
  };

  tell(number: number | null): Promise<void> {
    const proving = { state: "finished", claims: 1, failed: 0, trouble: "", number };
    this.listener?.onNews({ slug: "double", version: "v", faults: [], proving } as never);
    return new Promise((next) => setTimeout(next));
  }
}

const opened = () => {
  const judge = new Judge();
  return { judge, desk: new Desk("double", judge) };
};

test("a proof is asked for once", async () => {
  const { judge, desk } = opened();
  await judge.tell(null);
  expect([judge.asked, desk.proof.value]).toEqual([0, null]);
  await judge.tell(1);
  await judge.tell(1);
  expect([judge.asked, desk.proof.value?.version]).toEqual([1, "1"]);
  await judge.tell(2);
  expect([judge.asked, desk.proof.value?.version]).toEqual([2, "2"]);
});

test("a proof that could not be had is asked for again", async () => {
  const { judge, desk } = opened();
  judge.isAway = true;
  await judge.tell(1);
  expect(desk.proof.value).toBeNull();
  judge.isAway = false;
  await judge.tell(1);
  expect(desk.proof.value?.version).toBe("2");
});

test("after the judge was away its proofs are asked for again", async () => {
  const { judge, desk } = opened();
  await judge.tell(1);
  judge.listener?.onConnection(false);
  expect(desk.isOpen.value).toBe(false);
  await judge.tell(1);
  expect([judge.asked, desk.isOpen.value]).toEqual([2, true]);
});

test("a desk that has ended shows nothing new", async () => {
  const { judge, desk } = opened();
  const news = judge.tell(1);
  desk.end();
  await news;
  expect([judge.ended, desk.proof.value]).toEqual([true, null]);
  const last: AuthorNews | null = desk.news.value;
  expect(last?.slug).toBe("double");
});
