import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../../../parts/icon.tsx";
import { useBrowser } from "../../../state/browser.ts";
import { toCliCommand } from "./cli-command.ts";
import { toToolCall, type RunDraft } from "./run-draft.ts";

/** The run of the form as a model would ask for it, and as a command. */
export function CopyBox({ runDraft }: { readonly runDraft: RunDraft }): JSX.Element {
  const directory = useBrowser().source.server?.about.value?.directory;
  const { command, notes } = toCliCommand(runDraft);
  const place = directory === undefined ? [] : [`For a shell in ${directory}.`];
  return (
    <details class="copy-box">
      <summary>The same as a tool call, or in a shell</summary>
      <Copied name="tool call" text={toToolCall(runDraft)} notes={[]} />
      <Copied name="CLI command" text={command} notes={[...place, ...notes]} />
    </details>
  );
}

function Copied({
  name,
  text,
  notes,
}: {
  readonly name: string;
  readonly text: string;
  readonly notes: readonly string[];
}): JSX.Element {
  const { announcement } = useBrowser();
  const [copied, setCopied] = useState<string | undefined>(undefined);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
      announcement.value = `Copied as ${name}.`;
    } catch {
      announcement.value = "The browser does not let the page copy; select the text instead.";
    }
  };
  return (
    <figure>
      <figcaption>
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon name={copied === text ? "check" : "copy"} />
          Copy as {name}
        </button>
        {notes.map((note) => (
          <span key={note} class="muted">
            {note}
          </span>
        ))}
      </figcaption>
      <pre tabIndex={0} aria-label={`As ${name}`}>
        {text}
      </pre>
    </figure>
  );
}
