import type { FileProblem } from "../../../base/failures/file-problem.ts";

/** What is wrong with a policy file. */
export type PolicyProblem = FileProblem<
  | "policy-unreadable"
  | "policy-syntax"
  | "policy-key-unknown"
  | "policy-key-duplicate"
  | "policy-value-invalid"
  | "policy-contradiction"
  | "policy-loosens"
  | "policy-grant-idle"
  | "policy-no-effect"
  | "policy-implied"
>;

/** Reports a problem at a place in the file. */
export type ReportPolicyProblem = (
  code: PolicyProblem["code"],
  place: { readonly offset: number; readonly end: number },
  message: string,
  fix: string,
  severity?: PolicyProblem["severity"],
) => void;
