/**
 * Gets one submission to the judge, however often that takes.
 *
 * A press makes one submission with one key. It is kept in the browser until the judge has said
 * that it has it, or that it will not take it; until then it is sent again, after a while or when
 * the network is back, with the same key. Pressing again with the same text is the same submission,
 * with another text it is a new one in its place.
 */
import { Refused } from "../api/http";
import type { AcceptedSubmission, Kind } from "../api/types";
import { sameFiles } from "../parts/files";
import { delayMs } from "./backoff";
import type { Memory, Unsent } from "./memory";
import type { Ports } from "./ports";
import type { Refusal } from "./view";

const OFFLINE = "There is no network. The submission is kept here and sent when it is back.";
const AWAY = "The judge does not answer. The submission is kept here and sent again by itself.";

/** The judge's own sentence speaks of a field that people who use its API would set. */
const NEEDS_UNMET =
  "What this exercise builds on is not passed yet. Pass it first, or switch on “Judge on top of " +
  "the reference” above the buttons.";

/** Told what becomes of a submission; of the latest one only. */
export interface Sent {
  onSending: (unsent: Unsent) => void;
  onAccepted: (unsent: Unsent, accepted: AcceptedSubmission) => void;
  onUnsent: (refusal: Refusal) => void;
  onRefused: (unsent: Unsent, refusal: Refusal) => void;
}

export class Sender {
  readonly #slug: string;
  readonly #ports: Ports;
  readonly #memory: Memory;
  readonly #sent: Sent;
  readonly #endOnline: () => void;
  #pending: Unsent | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #isUnderWay = false;

  constructor(slug: string, ports: Ports, memory: Memory, sent: Sent) {
    this.#slug = slug;
    this.#ports = ports;
    this.#memory = memory;
    this.#sent = sent;
    this.#endOnline = ports.onOnline(() => {
      this.#again();
    });
  }

  /** The student presses Run or Submit. */
  press(kind: Kind, files: Record<string, string>, refDeps: boolean): void {
    const { key, atMs } = this.#sameAgain(kind, files, refDeps) ?? {
      key: this.#ports.newKey(),
      atMs: this.#ports.nowMs(),
    };
    if (this.#pending && this.#pending.key !== key) this.#memory.drop(this.#pending.key);
    const unsent = { key, kind, files, refDeps, atMs };
    this.#memory.keep(unsent);
    this.#begin(unsent);
  }

  /** Go on with what an earlier visit did not get to the judge; whether there was something. */
  resume(): boolean {
    const unsent = this.#memory.unsent(this.#ports.nowMs());
    if (unsent) this.#begin(unsent);
    return unsent !== null;
  }

  /** The page is left. What is not with the judge stays kept. */
  end(): void {
    this.#pending = null;
    clearTimeout(this.#timer);
    this.#endOnline();
  }

  #sameAgain(kind: Kind, files: Record<string, string>, refDeps: boolean): Unsent | null {
    const pending = this.#pending;
    const isSame = pending?.kind === kind && pending.refDeps === refDeps;
    return isSame && sameFiles(pending.files, files) ? pending : null;
  }

  #begin(unsent: Unsent): void {
    this.#pending = unsent;
    this.#attempt = 0;
    this.#sent.onSending(unsent);
    void this.#send(unsent);
  }

  #again(): void {
    if (this.#pending && !this.#isUnderWay) void this.#send(this.#pending);
  }

  async #send(unsent: Unsent): Promise<void> {
    clearTimeout(this.#timer);
    this.#isUnderWay = true;
    const { kind, files, refDeps } = unsent;
    const request = { problem: this.#slug, kind, files, ref_deps: refDeps };
    try {
      const accepted = await this.#ports.submit(request, unsent.key);
      if (this.#settle(unsent)) this.#sent.onAccepted(unsent, accepted);
    } catch (error) {
      this.#failed(unsent, error);
    }
  }

  #failed(unsent: Unsent, error: unknown): void {
    if (this.#pending !== unsent) return;
    const refused = error instanceof Refused ? error : null;
    const retryAfterS = refused?.retryAfterS ?? null;
    const retryAfterMs = retryAfterS === null ? null : retryAfterS * 1000;
    if (!refused || isAway(refused)) {
      this.#isUnderWay = false;
      this.#sendLater(retryAfterMs ?? delayMs(this.#attempt++));
      return;
    }
    this.#settle(unsent);
    this.#sent.onRefused(unsent, {
      sentence: refused.kind === "needs-unmet" ? NEEDS_UNMET : refused.message,
      retryAtMs: retryAfterMs === null ? null : this.#ports.nowMs() + retryAfterMs,
    });
  }

  #sendLater(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#again();
    }, afterMs);
    this.#sent.onUnsent(
      this.#ports.isOnline()
        ? { sentence: AWAY, retryAtMs: this.#ports.nowMs() + afterMs }
        : { sentence: OFFLINE, retryAtMs: null },
    );
  }

  /** The judge has spoken: nothing is pending any more. False when a later press has come since. */
  #settle(unsent: Unsent): boolean {
    this.#memory.drop(unsent.key);
    if (this.#pending !== unsent) return false;
    this.#pending = null;
    this.#isUnderWay = false;
    return true;
  }
}

/** The judge is there but what it keeps submissions in is not: it says so, and when to come back. */
const isAway = (refused: Refused): boolean => refused.status === 503;
