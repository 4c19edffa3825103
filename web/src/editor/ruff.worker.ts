/** Ruff, compiled to WebAssembly, off the page's own thread. */
import init, { type Diagnostic, PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-web";

export type Finding = Diagnostic;

/** The first message is `open`; each of the others is answered once, under its number. */
export type Request =
  | { kind: "open"; builtins: readonly string[] }
  | { kind: "check"; number: number; text: string }
  | { kind: "format"; number: number; text: string };

export type Reply =
  | { kind: "checked"; number: number; findings: Finding[] }
  | { kind: "formatted"; number: number; text: string }
  /** The text is not Python. */
  | { kind: "unreadable"; number: number }
  /** Ruff itself could not be started: it answers nothing. */
  | { kind: "broken" };

// What fails or surprises when the code runs. Taste is the student's own.
const RULES = ["E9", "F", "B006", "B015", "B018", "B020", "B023"];

let opened: Promise<Workspace> | null = null;

async function open(builtins: readonly string[]): Promise<Workspace> {
  await init();
  const settings = {
    "target-version": "py311",
    "line-length": 100,
    builtins,
    lint: { select: RULES },
  };
  return new Workspace(settings, PositionEncoding.Utf16);
}

function answer(ruff: Workspace, request: Exclude<Request, { kind: "open" }>): Reply {
  const { kind, number, text } = request;
  try {
    return kind === "check"
      ? { kind: "checked", number, findings: ruff.check(text) as Finding[] }
      : { kind: "formatted", number, text: ruff.format(text) };
  } catch {
    return { kind: "unreadable", number };
  }
}

async function receive(request: Request): Promise<Reply | null> {
  try {
    if (request.kind === "open") {
      opened = open(request.builtins);
      await opened;
      return null;
    }
    return opened && answer(await opened, request);
  } catch {
    return { kind: "broken" };
  }
}

onmessage = ({ data }: MessageEvent<Request>) => {
  void receive(data).then((reply) => {
    if (reply) postMessage(reply);
  });
};
