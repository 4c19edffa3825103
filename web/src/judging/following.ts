/**
 * Follows one submission to its end: by its stream while there is one, by asking while there is not.
 *
 * The browser connects a lost stream again by itself. When it has given up, the judge is asked how
 * far the submission is, and a new stream is opened, later each time. After its last event the
 * result is read once more: it holds what no event tells, the seed and the limits among them.
 */
import { Refused } from "../api/http";
import { delayMs } from "./backoff";
import type { Ports } from "./ports";
import type { Action } from "./reducer";

const NOT_FOUND = 404;

interface Follower {
  act: (action: Action) => void;
  /** The judge does not know the submission, or does not show it to this student. */
  onGone: () => void;
}

export class Following {
  readonly #id: string;
  readonly #ports: Ports;
  readonly #follower: Follower;
  readonly #endOnline: () => void;
  #closeStream: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #isOver = false;

  constructor(id: string, ports: Ports, follower: Follower) {
    this.#id = id;
    this.#ports = ports;
    this.#follower = follower;
    this.#endOnline = ports.onOnline(() => {
      // A connection from before may be dead without anybody having noticed.
      if (this.#closeStream) this.listen();
    });
  }

  /** Follow what was accepted just now. */
  listen(): void {
    // The page may have been left while the judge was asked: nobody would close the stream.
    if (this.#isOver) return;
    this.#closeStream?.();
    this.#act({ type: "connection", state: "anew" });
    this.#closeStream = this.#ports.listen(this.#id, {
      onEvent: (event) => {
        this.#attempt = 0;
        this.#act({ type: "event", event });
        if (event.type === "finished") this.#ask();
      },
      onPosition: (position) => {
        this.#attempt = 0;
        this.#act({ type: "position", position, atMs: this.#ports.nowMs() });
      },
      onConnection: (state) => {
        if (this.#isOver) return;
        this.#act({ type: "connection", state: state === "open" ? "open" : "lost" });
        if (state === "closed") this.#ask();
      },
    });
  }

  /** Show an earlier submission with its files, and follow it if it is not finished. */
  open(): void {
    void this.#answer(async () => {
      const [files, result] = await Promise.all([
        this.#ports.getFiles(this.#id),
        this.#ports.getSubmission(this.#id),
      ]);
      this.#act({ type: "files", id: this.#id, files });
      this.#act({ type: "result", result });
      if (result.state === "finished") this.end();
      else this.listen();
    });
  }

  end(): void {
    this.#isOver = true;
    this.#endStream();
    clearTimeout(this.#timer);
    this.#endOnline();
  }

  #ask(): void {
    this.#endStream();
    void this.#answer(async () => {
      const result = await this.#ports.getSubmission(this.#id);
      this.#act({ type: "result", result });
      if (result.state === "finished") this.end();
      else
        this.#later(() => {
          this.listen();
        });
    });
  }

  /** Ask the judge something until it answers. */
  async #answer(question: () => Promise<void>): Promise<void> {
    try {
      await question();
    } catch (error) {
      if (this.#isOver) return;
      if (error instanceof Refused && error.status === NOT_FOUND) {
        this.end();
        this.#follower.onGone();
        return;
      }
      this.#act({ type: "connection", state: "lost" });
      this.#later(() => {
        void this.#answer(question);
      });
    }
  }

  #later(action: () => void): void {
    if (!this.#isOver) this.#timer = setTimeout(action, delayMs(this.#attempt++));
  }

  #act(action: Action): void {
    if (!this.#isOver) this.#follower.act(action);
  }

  #endStream(): void {
    this.#closeStream?.();
    this.#closeStream = null;
  }
}
