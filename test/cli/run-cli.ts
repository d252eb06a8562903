import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type * as source from "../../src/cli/run-command.ts";

export const binary = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Starts the built command as a process whose environment contains only PATH, HOME and SHELL. */
export function startCli(args: readonly string[], options: CliOptions): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [binary, ...args], { cwd: options.cwd, env: environmentOf(options) });
}

function environmentOf({ cwd, env = {} }: CliOptions): Record<string, string | undefined> {
  return { PATH: process.env.PATH, HOME: cwd, SHELL: "/bin/sh", ...env };
}

/** Runs the command as a process and waits until it exits: for what only a process has, and once for each command. */
export async function runProcess(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const child = startCli(args, options);
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, stdout, stderr };
}

/** What is on stderr, with the further lines of errors on their first. */
export function unfolded(stderr: string): string {
  return stderr.replaceAll("\n  ", " ");
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the compiled command in this process, in the given directory and with the environment that a process would have. One after the other:
 * both belong to the whole process.
 */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const run = last.then(() => runHere(args, options));
  last = run.catch(() => undefined);
  return await run;
}

async function runHere(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const module = new URL("../../.build/cli/run-command.js", import.meta.url).href;
  const { runCommand } = (await import(/* @vite-ignore */ module)) as typeof source;
  const stdin = Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([textOf(stdout), textOf(stderr)]);
  const directory = process.cwd();
  const [before, program] = [{ ...process.env }, process.argv[1]];
  replaceEnvironment(environmentOf(options));
  process.chdir(options.cwd);
  process.argv[1] = binary;
  let code: number;
  try {
    code = await runCommand(args, { stdin, stdout, stderr });
  } finally {
    process.chdir(directory);
    process.argv[1] = program ?? binary;
    replaceEnvironment(before);
    stdout.end();
    stderr.end();
  }
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}

function replaceEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) Reflect.deleteProperty(process.env, name);
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const piece of stream.setEncoding("utf8")) text += piece as string;
  return text;
}
