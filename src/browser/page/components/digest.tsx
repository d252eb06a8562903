import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useBrowser, type Browser } from "../state/browser.ts";
import { IconButton } from "./icon.tsx";

/** A SHA-256, short until the user clicks it. */
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

/** Copies a text exactly as it is, and announces that. `what`: as in “Copy the digest”. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const { announcement } = useBrowser();
  return (
    <IconButton icon="copy" class="small" label={`Copy ${what}`} onClick={() => void copy(text, what, announcement)} />
  );
}

/** Copies a text and announces the outcome. Resolves with false if the browser does not let the page copy. */
export async function copy(text: string, what: string, announcement: Browser["announcement"]): Promise<boolean> {
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  announcement.value = isCopied ? `Copied ${what}.` : `This browser does not let the page copy ${what}.`;
  return isCopied;
}
