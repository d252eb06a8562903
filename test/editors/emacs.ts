import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Playground } from "../agents/playground.ts";
import { installDebian, runInDebian, startInDebian } from "./debian.ts";
import { installPlugins, pluginFolder, type Plugin } from "./plugins.ts";

/** A running Emacs without a screen. */
export interface Emacs {
  readonly process: number | undefined;
  /** What an expression of Emacs Lisp yields, as JSON. */
  lisp(expression: string): Promise<unknown>;
}

/** Installs Emacs and packages; returns the reason if that is impossible. */
export async function installEmacs(packages: readonly Plugin[]): Promise<string | undefined> {
  const missing = (await installDebian()) ?? (await installPlugins(packages));
  if (missing !== undefined) console.warn(`Not tested in Emacs: ${missing}.`);
  return missing;
}

/** Writes the person's `init.el`. */
export async function configureEmacs(
  { home }: Playground,
  packages: readonly Plugin[],
  configuration: string,
): Promise<void> {
  const paths = packages.map((name) => `(add-to-list 'load-path ${JSON.stringify(pluginFolder(name))})\n`);
  // Compiling takes both processors for a minute.
  const text = `(setq native-comp-jit-compilation nil)\n${paths.join("")}${configuration}`;
  await mkdir(join(home, ".emacs.d"));
  await writeFile(join(home, ".emacs.d/init.el"), text);
}

/** Starts Emacs; it ends with the test. */
export async function startEmacs(playground: Playground): Promise<Emacs> {
  // Emacs refuses a folder that others can read.
  const folder = join(playground.home, "server");
  await mkdir(folder, { mode: 0o700 });
  const socket = join(folder, "emacs");
  const child = startInDebian(playground, ["emacs", `--fg-daemon=${socket}`]);
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const lisp = async (expression: string): Promise<unknown> => {
    const encoded = `(base64-encode-string (encode-coding-string (json-encode ${expression}) 'utf-8) t)`;
    const printed = await runInDebian(playground, ["emacsclient", "-s", socket, "--eval", encoded]);
    return JSON.parse(Buffer.from(printed.trim().slice(1, -1), "base64").toString("utf8")) as unknown;
  };
  await expect.poll(() => lisp("1").catch(String), { timeout: 30_000, interval: 200 }).toBe(1);
  return { process: child.pid, lisp };
}
