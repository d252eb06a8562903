/** What is wrong with a JSON file, in the form of the problems of skills. Message and fix are sentences; the message has no full stop. */
export interface FileProblem<Code extends string = string> {
  readonly code: Code;
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
