/** What submitting and following need of the world: the judge, the network, the browser's memory. */
import { listen } from "../api/events";
import { getFiles, getSubmission, submit } from "../api/http";
import type { Keeper } from "./memory";

export interface Ports {
  submit: typeof submit;
  getSubmission: typeof getSubmission;
  getFiles: typeof getFiles;
  listen: typeof listen;
  /** Whether the browser knows of a network. It may be wrong: a judge can run on this machine. */
  isOnline: () => boolean;
  /** Call when a network has come back; returns what ends that. */
  onOnline: (listener: () => void) => () => void;
  lasting: () => Keeper;
  session: () => Keeper;
  nowMs: () => number;
  newKey: () => string;
}

export const BROWSER: Ports = {
  submit,
  getSubmission,
  getFiles,
  listen,
  isOnline: () => navigator.onLine,
  onOnline: (listener) => {
    addEventListener("online", listener);
    return () => {
      removeEventListener("online", listener);
    };
  },
  lasting: () => localStorage,
  session: () => sessionStorage,
  nowMs: () => Date.now(),
  newKey,
};

/** 128 random bits. `crypto.randomUUID` is missing where the page comes without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
