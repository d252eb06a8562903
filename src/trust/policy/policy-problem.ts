/** What is wrong with a policy file, in the form of the problems of skills. Message and fix are sentences; the message has no full stop. */
export interface PolicyProblem {
  readonly code:
    | "policy-unreadable"
    | "policy-syntax"
    | "policy-key-unknown"
    | "policy-key-duplicate"
    | "policy-value-invalid"
    | "policy-contradiction"
    | "policy-loosens"
    | "policy-grant-idle";
  /** After an error, the file is not used. */
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine?: number;
  readonly endColumn?: number;
  readonly message: string;
  readonly fix: string;
}

/** Reports a problem at a place in the file. */
export type Report = (
  code: PolicyProblem["code"],
  place: { readonly offset: number; readonly end: number },
  message: string,
  fix: string,
  severity?: PolicyProblem["severity"],
) => void;
