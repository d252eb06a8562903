import type { JSX } from "preact";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icon.tsx";
import type { SourceError } from "../source/source-error.ts";

/** Why something could not be read or done, and what helps. It may quote what others wrote. */
export function SourceErrorAlert({ error }: { readonly error: SourceError | undefined }): JSX.Element | null {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      <Icon name="alert" />
      <span>
        <ForeignText text={error.message} limit={1_000} />{" "}
        {error.hint !== undefined && <ForeignText text={error.hint} limit={1_000} />}
      </span>
    </p>
  );
}
