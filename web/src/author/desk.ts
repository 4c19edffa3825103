/** What `judge dev` tells of the folder that is being written, as it comes. */
import { batch, type ReadonlySignal, signal } from "@preact/signals";

import type { AuthorListener } from "../api/events";
import type { AuthorNews, Proof } from "../api/types";

/** The part of the judge that a desk needs. */
export interface AuthorPorts {
  /** Returns what ends it. */
  listen: (slug: string, listener: AuthorListener) => () => void;
  /** The newest proof; null while the judge is away. */
  proof: (slug: string) => Promise<Proof | null>;
}

export class Desk {
  readonly #news = signal<AuthorNews | null>(null);
  readonly #proof = signal<Proof | null>(null);
  readonly #isOpen = signal(true);
  readonly #slug: string;
  readonly #ports: AuthorPorts;
  readonly #end: () => void;
  #wanted: number | null = null;
  #isEnded = false;

  /** Null until the judge has answered. */
  readonly news: ReadonlySignal<AuthorNews | null> = this.#news;
  /** The newest proof, which may be of an earlier version. */
  readonly proof: ReadonlySignal<Proof | null> = this.#proof;
  /** Whether the judge is there. */
  readonly isOpen: ReadonlySignal<boolean> = this.#isOpen;

  constructor(slug: string, ports: AuthorPorts) {
    this.#slug = slug;
    this.#ports = ports;
    this.#end = ports.listen(slug, {
      onNews: (news) => {
        batch(() => {
          this.#isOpen.value = true;
          this.#news.value = news;
        });
        void this.#load(news.proving.number ?? null);
      },
      onConnection: (isOpen) => {
        // A judge that was started anew counts its proofs anew.
        if (!isOpen) this.#wanted = null;
        this.#isOpen.value = isOpen;
      },
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#end();
  }

  /** The proof of that number, unless it was asked for already. */
  async #load(number: number | null): Promise<void> {
    if (number === null || number === this.#wanted) return;
    this.#wanted = number;
    const proof = await this.#ports.proof(this.#slug);
    if (this.#isEnded || this.#wanted !== number) return;
    if (proof === null) this.#wanted = null;
    else this.#proof.value = proof;
  }
}
