/** The one door to an exercise's language server: a WebSocket, one JSON-RPC message a frame. */

/** Where the server sees the student's files. */
export const WORKSPACE = "file:///workspace";

export function openLanguageSocket(slug: string): WebSocket {
  const address = new URL(`/api/problems/${encodeURIComponent(slug)}/language`, location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(address);
}
