/** Names for the parts of the generated schema that the page speaks of. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Catalogue = Schemas["Catalogue"];
export type TrackCard = Schemas["TrackCard"];
export type ProblemCard = Schemas["ProblemCard"];
export type ProblemPage = Schemas["ProblemPage"];
export type TierToPass = Schemas["TierToPass"];
export type CheckToPass = Schemas["CheckToPass"];
export type Course = Schemas["Course"];
export type Takeaway = Schemas["Takeaway"];
export type RunnableExample = Schemas["RunnableExample"];
export type OwnTestsCard = Schemas["OwnTestsCard"];
export type SubmissionRequest = Schemas["SubmissionRequest"];
export type AcceptedSubmission = Schemas["AcceptedSubmission"];
export type Solution = Schemas["Solution"];
export type Progress = Schemas["Progress"];
export type History = Schemas["History"];
export type HistoryEntry = Schemas["HistoryEntry"];
export type Result = Schemas["Result"];
export type TierResult = Schemas["TierResult"];
export type CheckResult = Schemas["CheckResult"];
export type Detail = Schemas["Detail"];
export type Table = Schemas["Table"];
export type Frame = Schemas["Frame"];
export type Chart = Schemas["Chart"];
export type Diagnosis = Schemas["Diagnosis"];
export type Mutation = Schemas["Mutation"];
export type Output = Schemas["Output"];
export type Limits = Schemas["Limits"];
export type AuthorNews = Schemas["AuthorNews"];
export type FaultCard = Schemas["FaultCard"];
export type Proof = Schemas["Proof"];
export type Case = Schemas["Case"];
export type Finding = Schemas["Finding"];
export type KillMatrix = Schemas["KillMatrix"];
export type MadeMutant = Schemas["MadeMutant"];
export type Headroom = Schemas["Headroom"];
export type CheckTime = Schemas["CheckTime"];
export type Verdict = Schemas["Verdict"];
export type Kind = SubmissionRequest["kind"];

/** What a frame of a submission's stream holds; told apart by `type`. */
export type StreamEvent =
  | Schemas["Queued"]
  | Schemas["Started"]
  | Schemas["TierStarted"]
  | Schemas["CheckFinished"]
  | Schemas["ChartDrawn"]
  | Schemas["TierFinished"]
  | Schemas["MutantFinished"]
  | Schemas["Restarted"]
  | Schemas["Finished"];
export type Position = Schemas["Position"];
