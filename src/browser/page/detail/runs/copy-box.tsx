import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../../parts/icon.tsx";
import { useBrowser } from "../../state/browser.ts";
import { shellWord } from "../../../../base/text/quoted.ts";

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

/** The command for a POSIX shell that runs the same, and what a person should know before pasting it. */
interface CliCommand {
  readonly command: string;
  readonly notes: readonly string[];
}

export function toCliCommand({ skill, script, args, blobs, timeoutMs }: RunDraft): CliCommand {
  const { argv, ...rest } = script === undefined ? { ...args, argv: undefined } : (args as Readonly<ScriptArguments>);
  const given = script === undefined ? args : rest;
  const words = [
    ...["acp-skills", "run", skill],
    ...(script === undefined ? [] : ["--script", script]),
    ...(Object.keys(given).length === 0 ? [] : ["--args", JSON.stringify(given)]),
    ...blobs.flatMap(({ name }) => ["--blob", name.startsWith("-") ? `./${name}` : name]),
    ...(timeoutMs === undefined ? [] : ["--timeout", toDuration(timeoutMs)]),
    ...(argv === undefined || argv.length === 0 ? [] : ["--", ...argv]),
  ];
  const notes = [
    ...(blobs.length === 0 ? [] : [`Run it where ${blobs.map(({ name }) => name).join(", ")} can be found.`]),
    ...(blobs.length > 0 && namesPlace(given)
      ? ['The command replaces arguments such as "@1" with the blob of that number; they are text here.']
      : []),
    ...(namesBlob(args) ? ["It names blobs, which are stored for 24 hours."] : []),
  ];
  return { command: words.map(shellWord).join(" "), notes };
}

interface ScriptArguments {
  readonly argv?: readonly string[];
  readonly stdin?: string;
}

function toDuration(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

function namesBlob(value: unknown): boolean {
  return someText(value, (text) => /^blob:[A-Za-z0-9]/.test(text));
}

function namesPlace(value: unknown): boolean {
  return someText(value, (text) => /^@[1-9]\d?$/.test(text));
}

function someText(value: unknown, isMeant: (text: string) => boolean): boolean {
  if (typeof value === "string") return isMeant(value);
  return typeof value === "object" && value !== null && Object.values(value).some((inner) => someText(inner, isMeant));
}

/** What a person is about to run. */
export interface RunDraft {
  /** The slug. */
  readonly skill: string;
  readonly script?: string | undefined;
  /** Of a script: `{argv, stdin?}`. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Besides those that arguments name. `name`: of the file. */
  readonly blobs: readonly { readonly id: string; readonly name: string }[];
  readonly timeoutMs?: number | undefined;
}

/** The arguments of `execute_skill`. */
export function toToolArguments({
  skill,
  script,
  args,
  blobs,
  timeoutMs,
}: RunDraft): Readonly<Record<string, unknown>> {
  return {
    name: skill,
    ...(script !== undefined && { script }),
    ...(Object.keys(args).length > 0 && { args }),
    ...(blobs.length > 0 && { input_blobs: blobs.map(({ id }) => id) }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  };
}

/** The same as the call that a model makes. */
export function toToolCall(runDraft: RunDraft): string {
  return JSON.stringify({ name: "execute_skill", arguments: toToolArguments(runDraft) }, undefined, 2);
}
