import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useBrowser } from "../state/browser.ts";
import { Icon } from "./icon.tsx";

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

/** Copies a text, exactly as it is, and says so. `what`: as in “Copy the digest”. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const { announcement } = useBrowser();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      announcement.value = `Copied ${what}.`;
    } catch {
      announcement.value = `This browser does not let the page copy ${what}.`;
    }
  };
  return (
    <button
      type="button"
      class="button plain small"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name="copy" />
    </button>
  );
}
