import type { JSX } from "preact";
import { useBrowser } from "../state/browser.ts";
import { Icon } from "./icon.tsx";

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
