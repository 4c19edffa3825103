/** Streams of events, typed; the browser reconnects and resumes by itself. */
import type { AuthorNews, Position, StreamEvent } from "./types";

type Type = StreamEvent["type"];

// Keyed by type, so that an event the schema gains is a compile error here and not a silence.
const TYPES: Record<Type, true> = {
  queued: true,
  started: true,
  tier_started: true,
  check_finished: true,
  chart: true,
  tier_finished: true,
  mutant_finished: true,
  restarted: true,
  finished: true,
};

export interface Listener {
  onEvent: (event: StreamEvent) => void;
  onPosition: (position: Position) => void;
  /** "lost" while the browser tries again by itself, "closed" when it has given up. */
  onConnection: (state: "open" | "lost" | "closed") => void;
}

/** Listen to a submission; returns what ends it. The stream ends by itself after `finished`. */
export function listen(id: string, listener: Listener): () => void {
  const source = new EventSource(`/api/submissions/${encodeURIComponent(id)}/events`);
  source.onopen = () => {
    listener.onConnection("open");
  };
  source.onerror = () => {
    listener.onConnection(source.readyState === EventSource.CLOSED ? "closed" : "lost");
  };
  for (const type of Object.keys(TYPES)) {
    source.addEventListener(type, (message: MessageEvent<string>) => {
      const event = JSON.parse(message.data) as StreamEvent;
      // The server ends a stream after its last event; a browser would take that for a loss.
      if (event.type === "finished") source.close();
      listener.onEvent(event);
    });
  }
  source.addEventListener("position", (message: MessageEvent<string>) => {
    listener.onPosition(JSON.parse(message.data) as Position);
  });
  return () => {
    source.close();
  };
}

export interface AuthorListener {
  onNews: (news: AuthorNews) => void;
  /** Whether the judge is there; the browser tries again by itself. */
  onConnection: (isOpen: boolean) => void;
}

const AGAIN_MS = 2000;

/** Listen to what changes in the folder that is being written; returns what ends it. */
export function listenToAuthor(slug: string, listener: AuthorListener): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout>;
  const open = () => {
    source = new EventSource(`/api/author/${encodeURIComponent(slug)}/events`);
    source.onopen = () => {
      listener.onConnection(true);
    };
    source.onerror = () => {
      listener.onConnection(false);
      // A browser gives up where somebody else answers, a proxy say, while the judge is away.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
    };
    source.addEventListener("news", (message: MessageEvent<string>) => {
      listener.onNews(JSON.parse(message.data) as AuthorNews);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
