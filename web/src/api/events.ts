/** The stream of a submission's events, typed; the browser reconnects and resumes by itself. */
import type { Position, StreamEvent } from "./types";

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
