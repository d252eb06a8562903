import type { RunDraft } from "./run-draft.ts";
import { shellWord } from "../../../../../base/text/quoted.ts";

/** The command for a POSIX shell that runs the same, and what a person should know before pasting it. */
export interface CliCommand {
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
