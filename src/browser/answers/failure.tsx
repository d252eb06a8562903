import type { JSX } from "preact";
import { Icon } from "../parts/icon.tsx";
import type { SourceError } from "../source/source-error.ts";

/** Why something could not be read or done, and what helps. */
export function Failure({ error }: { readonly error: SourceError | undefined }): JSX.Element | null {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      <Icon name="alert" /> {error.message} {error.hint}
    </p>
  );
}
