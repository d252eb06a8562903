/** Why a request was not answered with success. `code` is one of `BrowseError`, or `UNREACHABLE`; `message` can be shown to people. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
