import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { CopyButton } from "./copy-button.tsx";

/** A SHA-256, short until it is asked for. */
export function Digest({ digest, what }: { readonly digest: string; readonly what: string }): JSX.Element {
  const [isWhole, setIsWhole] = useState(false);
  const short = digest.slice(0, digest.startsWith("sha256:") ? 19 : 12);
  return (
    <span class="digest">
      <button
        type="button"
        class="link"
        aria-expanded={isWhole}
        aria-label={`${isWhole ? digest : short}, ${what}`}
        onClick={() => setIsWhole(!isWhole)}
      >
        <code>{isWhole ? digest : `${short}…`}</code>
      </button>
      <CopyButton text={digest} what={what} />
    </span>
  );
}
