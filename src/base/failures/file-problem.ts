/** A position, or a range with an exclusive end. Lines and columns start at 1; columns count code points. */
export interface TextRange {
  readonly line: number;
  readonly column: number;
  readonly endLine?: number;
  readonly endColumn?: number;
}

/** A fault in a file, with its position. Message and fix are sentences; the message has no full stop. */
export interface FileFault<Code extends string> extends TextRange {
  readonly code: Code;
  readonly file: string;
  readonly message: string;
  readonly fix: string;
}

/** A problem of a JSON file, in the same form as the problems of skills. */
export interface FileProblem<Code extends string> extends FileFault<Code> {
  /** After an error, the file is not used. */
  readonly severity: "error" | "warning";
}
