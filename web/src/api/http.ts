/**
 * The one module that talks HTTP: requests to the judge the page came from, and their refusals.
 *
 * An answer is either what the schema says or a `Refused` with a sentence to show; a request that
 * found no server is `Unreachable`. Nothing else is thrown.
 */
import createClient from "openapi-fetch";

import type { components, paths } from "./schema";
import type {
  AcceptedSubmission,
  Catalogue,
  History,
  ProblemPage,
  Proof,
  Result,
  Solution,
  SubmissionRequest,
} from "./types";

type Report = components["schemas"]["ErrorReport"];

/** The judge answered, and said no. `kind` is the last part of its type: "queue-full", say. */
export class Refused extends Error {
  readonly kind: string;
  readonly status: number;
  readonly retryAfterS: number | null;

  constructor(report: Report) {
    super(report.detail);
    this.kind = report.type.replace(/^urn:judge:/, "");
    this.status = report.status;
    this.retryAfterS = report.retry_after_s ?? null;
  }
}

/** Nobody answered: no network, or the server is restarting. */
export class Unreachable extends Error {}

const client = createClient<paths>({ baseUrl: location.origin });

interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

async function body<Body>(request: Promise<Answer<Body>>): Promise<Body> {
  let answer: Answer<Body>;
  try {
    answer = await request;
  } catch {
    throw new Unreachable("The judge does not answer.");
  }
  if (answer.data !== undefined) return answer.data;
  if (isReport(answer.error)) throw new Refused(answer.error);
  // A proxy between us and the judge speaks for it while it is away.
  throw new Unreachable(`The judge does not answer (${answer.response.status}).`);
}

function isReport(error: unknown): error is Report {
  return typeof error === "object" && error !== null && "detail" in error && "type" in error;
}

export const getCatalogue = (): Promise<Catalogue> => body(client.GET("/api/problems"));

export const getProblem = (slug: string): Promise<ProblemPage> =>
  body(client.GET("/api/problems/{slug}", { params: { path: { slug } } }));

/** The reference and the editorial; `Refused` as "not-solved" until the student has solved it. */
export const getSolution = (slug: string): Promise<Solution> =>
  body(client.GET("/api/problems/{slug}/solution", { params: { path: { slug } } }));

/** The newest proof of the folder that `judge dev` shows; `Refused` in every other judge. */
export const getProof = (slug: string): Promise<Proof> =>
  body(client.GET("/api/author/{slug}/proof", { params: { path: { slug } } }));

/** Queue a submission. Sent again with the same `key` it is the same submission. */
export const submit = (request: SubmissionRequest, key: string): Promise<AcceptedSubmission> =>
  body(
    client.POST("/api/submissions", {
      body: request,
      params: { header: { "Idempotency-Key": key } },
    }),
  );

/** One's own submissions, newest first; `before` is the `next` of the part before. */
export const getHistory = (problem: string, before?: string): Promise<History> =>
  body(
    client.GET("/api/submissions", {
      params: { query: before === undefined ? { problem } : { problem, before } },
    }),
  );

export const getSubmission = (id: string): Promise<Result> =>
  body(client.GET("/api/submissions/{submission_id}", { params: { path: { submission_id: id } } }));

/** The sources of a submission by file name. */
export const getFiles = async (id: string): Promise<Record<string, string>> => {
  const answer = await body(
    client.GET("/api/submissions/{submission_id}/files", {
      params: { path: { submission_id: id } },
    }),
  );
  return answer.files;
};
