import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { shellWord } from "../../../../base/text/quoted.ts";
import { copy } from "../../components/digest.tsx";
import { Icon } from "../../components/icon.tsx";
import { useBrowser } from "../../state/browser.ts";
import type { RunDraft } from "./state/run-form.ts";

/** The run of the form as the tool call of a model, and as a command. */
export function CopyBox({ runDraft }: { readonly runDraft: RunDraft }): JSX.Element {
  const directory = useBrowser().source.server?.about.value?.directory;
  const { command, notes } = toCliCommand(runDraft);
  const directoryNote = directory === undefined ? [] : [`For a shell in ${directory}.`];
  return (
    <details class="copy-box">
      <summary>The same as a tool call, or in a shell</summary>
      <Copied name="tool call" text={toToolCall(runDraft)} notes={[]} />
      <Copied name="CLI command" text={command} notes={[...directoryNote, ...notes]} />
    </details>
  );
}

interface CopiedProps {
  readonly name: string;
  readonly text: string;
  readonly notes: readonly string[];
}

function Copied({ name, text, notes }: CopiedProps): JSX.Element {
  const { announcement } = useBrowser();
  const [copied, setCopied] = useState<string>();
  return (
    <figure>
      <figcaption>
        <button
          type="button"
          class="button"
          onClick={() => void copy(text, `as ${name}`, announcement).then((isCopied) => isCopied && setCopied(text))}
        >
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

/** The equivalent command for a POSIX shell, and notes for the user to read before pasting it. */
export function toCliCommand(draft: RunDraft): { readonly command: string; readonly notes: readonly string[] } {
  const { skill, script, args, blobs, timeoutMs } = draft;
  const { argv = [], ...rest } = args as { readonly argv?: readonly string[] };
  const [given, words] = script === undefined ? [args, []] : [rest, argv];
  const command = [
    ...["acp-skills", "run", skill],
    ...(script === undefined ? [] : ["--script", script]),
    ...(Object.keys(given).length === 0 ? [] : ["--args", JSON.stringify(given)]),
    ...blobs.flatMap(({ name }) => ["--blob", name.startsWith("-") ? `./${name}` : name]),
    ...(timeoutMs === undefined ? [] : ["--timeout", `${timeoutMs}ms`]),
    ...(words.length === 0 ? [] : ["--", ...words]),
  ];
  const notes = [
    ...(blobs.length === 0 ? [] : [`Run it where ${blobs.map(({ name }) => name).join(", ")} can be found.`]),
    ...(/"blob:\w/.test(JSON.stringify(args)) ? ["It names blobs, which are stored for 24 hours."] : []),
  ];
  return { command: command.map(shellWord).join(" "), notes };
}

/** The arguments of the tool `execute_skill` for this run. */
export function toToolArguments(draft: RunDraft): Readonly<Record<string, unknown>> {
  const { skill, script, args, blobs, timeoutMs } = draft;
  return {
    name: skill,
    ...(script !== undefined && { script }),
    ...(Object.keys(args).length > 0 && { args }),
    ...(blobs.length > 0 && { input_blobs: blobs.map(({ id }) => id) }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  };
}

/** The run as the call that a model makes. */
export function toToolCall(runDraft: RunDraft): string {
  return JSON.stringify({ name: "execute_skill", arguments: toToolArguments(runDraft) }, undefined, 2);
}
