/**
 * Completion, hovers, signatures and type errors from the exercise's language server.
 *
 * Loaded after the editor can be used, which does without it whenever the server is away: it may
 * refuse at any time, and it ends connections on which nothing happens. A new one is tried when the
 * student types on, and no longer after a few in a row that came to nothing.
 */
import { type Diagnostic, linter } from "@codemirror/lint";
import {
  LSPClient,
  LSPPlugin,
  type Transport,
  hoverTooltips,
  serverCompletion,
  serverDiagnostics,
  signatureHelp,
} from "@codemirror/lsp-client";
import { type ChangeDesc, type Extension, StateEffect, StateField } from "@codemirror/state";

import { WORKSPACE, openLanguageSocket } from "../api/language";
import { inert } from "./inert";

/** How long to wait after each failure in a row; after one more it is given up. */
const BACK_OFF_MS = [5_000, 30_000];
/** A connection that lasted this long was a good one. */
const LASTING_MS = 30_000;
const REQUEST_MS = 10_000;

/** Given the extension of a file that the server helps with, or null when it is gone. */
type Use = (extension: ((file: string) => Extension) | null) => void;

export class Language {
  readonly #slug: string;
  readonly #use: Use;
  #socket: WebSocket | null = null;
  #failures = 0;
  #retryAtMs = 0;

  constructor(slug: string, use: Use) {
    this.#slug = slug;
    this.#use = use;
    this.#connect();
  }

  /** Something was typed: the moment to try again, if it is time. */
  changed(): void {
    if (this.#socket === null && Date.now() >= this.#retryAtMs) this.#connect();
  }

  end(): void {
    this.#retryAtMs = Infinity;
    this.#socket?.close();
  }

  #connect(): void {
    const socket = openLanguageSocket(this.#slug);
    this.#socket = socket;
    let openedAtMs = Infinity;
    socket.onopen = () => {
      openedAtMs = Date.now();
      void this.#begin(socket);
    };
    socket.onclose = () => {
      this.#socket = null;
      this.#use(null);
      this.#failures = Date.now() - openedAtMs >= LASTING_MS ? 0 : this.#failures + 1;
      const waitMs = this.#failures === 0 ? 0 : (BACK_OFF_MS[this.#failures - 1] ?? Infinity);
      this.#retryAtMs = Math.max(this.#retryAtMs, Date.now() + waitMs);
    };
  }

  async #begin(socket: WebSocket): Promise<void> {
    const client = clientFor(socket);
    try {
      await client.initializing;
    } catch {
      socket.close();
      return;
    }
    if (socket.readyState === WebSocket.OPEN) {
      this.#use((file) => client.plugin(`${WORKSPACE}/${file}`, "python"));
    }
  }
}

/** A client whose unanswered questions are answered with nothing: help that may be missing. */
class PatientClient extends LSPClient {
  // The signature is the library's.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
  override async request<Params, Result>(method: string, params: Params): Promise<Result> {
    try {
      return await super.request<Params, Result>(method, params);
    } catch {
      // Each method that is used here may be answered with null.
      return null as Result;
    }
  }
}

function clientFor(socket: WebSocket): LSPClient {
  const client = new PatientClient({
    rootUri: WORKSPACE,
    timeout: REQUEST_MS,
    sanitizeHTML: inert,
    notificationHandlers: {
      "textDocument/publishDiagnostics": (from, params) => showTypes(from, params as Published),
      // The server talks to whoever runs it, not to students.
      "window/logMessage": () => true,
      "window/showMessage": () => true,
    },
    extensions: [
      serverCompletion({ override: true }),
      hoverTooltips(),
      signatureHelp(),
      serverDiagnostics(),
      types,
      linter(({ state }) => state.field(types), {
        needsRefresh: ({ transactions }) =>
          transactions.some(({ effects }) => effects.some((effect) => effect.is(setTypes))),
      }),
    ],
  });
  return client.connect(transportOf(socket));
}

function transportOf(socket: WebSocket): Transport {
  const listeners = new Map<unknown, (message: MessageEvent<string>) => void>();
  return {
    send(message) {
      // What is asked of a socket that is closing is not answered; a failure would say no more.
      if (socket.readyState === WebSocket.OPEN) socket.send(message);
    },
    subscribe(handler) {
      const listener = ({ data }: MessageEvent<string>) => {
        handler(data);
      };
      listeners.set(handler, listener);
      socket.addEventListener("message", listener);
    },
    unsubscribe(handler) {
      const listener = listeners.get(handler);
      if (listener) socket.removeEventListener("message", listener);
      listeners.delete(handler);
    },
  };
}

interface Position {
  line: number;
  character: number;
}

interface Published {
  uri: string;
  version?: number;
  diagnostics: {
    range: { start: Position; end: Position };
    severity?: number;
    code?: string | number;
    message: string;
  }[];
}

// Of no use here: that a parameter is not used yet, which is true of every starter.
const HINT = 4;
// Ruff says these as well, and sooner.
const SAID_BY_RUFF = new Set<unknown>(["invalid-syntax", "unresolved-reference"]);
const SEVERITIES = ["error", "warning", "info"] as const;

const setTypes = StateEffect.define<readonly Diagnostic[]>();

/** The newest type errors. They move with the text until the server sends others. */
const types = StateField.define<readonly Diagnostic[]>({
  create: () => [],
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setTypes)) return effect.value;
    return transaction.docChanged ? moved(value, transaction.changes) : value;
  },
});

const moved = (diagnostics: readonly Diagnostic[], changes: ChangeDesc): Diagnostic[] =>
  diagnostics
    .map((each) => ({
      ...each,
      from: changes.mapPos(each.from, 1),
      to: changes.mapPos(each.to, -1),
    }))
    .filter(({ from, to }) => from < to);

function showTypes(client: LSPClient, { uri, version, diagnostics }: Published): boolean {
  const file = client.workspace.getFile(uri);
  const view = file?.getView();
  const plugin = view && LSPPlugin.get(view);
  // A tab that is not shown is opened anew, and checked anew, when it is.
  if (!file || !plugin || (version !== undefined && version !== file.version)) return true;
  const at = (position: Position) =>
    plugin.unsyncedChanges.mapPos(plugin.fromPosition(position, plugin.syncedDoc));
  const found = diagnostics
    .filter(({ code, severity }) => severity !== HINT && !SAID_BY_RUFF.has(code))
    .map(({ range, severity = 1, code, message }): Diagnostic => ({
      from: at(range.start),
      to: at(range.end),
      severity: SEVERITIES[severity - 1] ?? "error",
      source: code === undefined ? "types" : `types ${code}`,
      message,
    }));
  view.dispatch({ effects: setTypes.of(found) });
  return true;
}
