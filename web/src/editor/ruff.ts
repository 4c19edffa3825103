/** The page's side of ruff: questions to its worker, and what becomes of them when it fails. */
import type { Finding, Reply, Request } from "./ruff.worker";

/** "unreadable": the text is not Python. "broken": ruff could not be loaded. */
type Formatted = { kind: "formatted"; text: string } | { kind: "unreadable" | "broken" };

export class Ruff {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #number = 0;
  #broken = false;

  constructor(builtins: readonly string[]) {
    this.#worker = new Worker(new URL("./ruff.worker.ts", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      this.#receive(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#receive({ kind: "broken" });
    };
    this.#send({ kind: "open", builtins });
  }

  /** What ruff finds; nothing when it is broken. */
  async check(text: string): Promise<Finding[]> {
    const reply = await this.#ask((number) => ({ kind: "check", number, text }));
    return reply.kind === "checked" ? reply.findings : [];
  }

  async format(text: string): Promise<Formatted> {
    const reply = await this.#ask((number) => ({ kind: "format", number, text }));
    if (reply.kind === "formatted") return { kind: "formatted", text: reply.text };
    return { kind: reply.kind === "unreadable" ? "unreadable" : "broken" };
  }

  end(): void {
    this.#worker.terminate();
    this.#receive({ kind: "broken" });
  }

  #ask(question: (number: number) => Request): Promise<Reply> {
    if (this.#broken) return Promise.resolve({ kind: "broken" });
    const number = ++this.#number;
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve);
      this.#send(question(number));
    });
  }

  #send(request: Request): void {
    this.#worker.postMessage(request);
  }

  #receive(reply: Reply): void {
    if (reply.kind === "broken") {
      this.#broken = true;
      for (const resolve of this.#waiting.values()) resolve(reply);
      this.#waiting.clear();
      return;
    }
    this.#waiting.get(reply.number)?.(reply);
    this.#waiting.delete(reply.number);
  }
}
