import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { openApp } from "../../../runtime/app.ts";
import { canIdentifyPeerUsers } from "../../../base/network/peer-users.ts";
import { openGivenPorts } from "../../../given-ports.ts";
import { readOptions } from "../../../runtime/options.ts";
import { running, toSkillsOptions } from "../../arguments/running-options.ts";
import { cwd, roots } from "../../arguments/shared-options.ts";
import { existingDirectory, ports, parseNumber, toWords } from "../../arguments/values.ts";
import { defineCommand, text, flag, exit } from "../../command.ts";
import { onInterruption } from "../../report/terminal.ts";
import { launchProgram } from "../../../base/processes/spawn-process.ts";
import { makeOwnDirectories } from "../../../base/paths/directories.ts";

const defaultIdleMinutes = 30;

export const command = defineCommand({
  options: {
    port: text("PORT", "The port. Default: any free one."),
    "read-only": flag("Nothing can be approved, run, installed or opened from the page."),
    "no-open": flag("Only print the address; open no browser."),
    "idle-minutes": text("N", `Stop when no page was open for this long. Default: ${defaultIdleMinutes}.`),
    ...roots,
    ...running,
    cwd,
  },
  examples: ["browse", "browse --read-only --no-open", "browse --skills ./skills --port 7332"],
  notes: [
    "The page is served to this machine only. Its address works once, within five minutes; press Enter for a new one.",
    "The browser is that of $BROWSER, or the system's.",
  ],
  async run({ options }, terminal) {
    const { port: portText = "0", "idle-minutes": minutes = String(defaultIdleMinutes) } = options;
    const port = parseNumber("--port", portText, ports);
    const idleMinutes = parseNumber("--idle-minutes", minutes, [1, 10_080]);
    const directory = existingDirectory("--cwd", options.cwd);
    const settings = readOptions(toSkillsOptions(options, terminal.log), { home: terminal.home });
    // Reverts a flag that main.ts sets for commands that read once and end.
    setFlagsFromString("--semi-space-growth-factor=2");
    const app = openApp(settings, await openGivenPorts(settings));
    const { signal, stop } = onInterruption();
    const idle = new AbortController();
    let stopReading = (): void => undefined;
    let removeRedirect: (() => void) | undefined;
    try {
      const session = app.openSession({ cwd: directory });
      const { serveBrowse } = await import("../../../browser/server.ts");
      const server = await serveBrowse(app, session, {
        port,
        readOnly: options["read-only"] === true,
        idleMs: idleMinutes * 60_000,
        directory,
        home: terminal.home,
        dataDirectory: settings.dataDirectory,
        allowPrivate: options["allow-private"] ?? [],
        idle: () => idle.abort(),
      });
      const address = server.newAddress();
      terminal.note(`open ${address}`);
      stopReading = onEnter(() => terminal.note(`open ${server.newAddress()}`));
      // Other users may read the address in the list of processes. If the users of connections are known, the server refuses others.
      const opens = options["no-open"] !== true;
      const needsFile = opens && !canIdentifyPeerUsers();
      const redirect = needsFile ? writeRedirectFile(settings.dataDirectory, address) : undefined;
      removeRedirect = redirect?.remove;
      if (opens) {
        const fault = await openInBrowser(redirect?.url ?? address);
        if (fault !== undefined) terminal.note(fault);
      }
      const ended = AbortSignal.any([signal, idle.signal]);
      if (!ended.aborted) await once(ended, "abort");
      if (idle.signal.aborted) terminal.note(`stopped: no page was open for ${idleMinutes} minutes`);
      await server.close();
      session.close();
    } finally {
      stopReading();
      removeRedirect?.();
      stop();
      await app.close();
    }
    return idle.signal.aborted ? exit.done : exit.interrupted;
  },
});

/**
 * Calls `listener` for each line that is entered at the terminal; reads nothing if stdin is not a terminal. Returns a function that stops
 * this.
 */
function onEnter(listener: () => void, stdin: NodeJS.ReadStream = process.stdin): () => void {
  if (!stdin.isTTY) return () => undefined;
  stdin.on("data", listener).on("error", () => undefined);
  return () => {
    stdin.off("data", listener);
    stdin.pause();
  };
}

interface BrowserEnvironment {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/** How long a program may take to fail, in milliseconds; one that still runs is a browser. */
const patienceMs = 2_000;

/** Opens an address in the user's browser. Resolves with a sentence if that is not possible, without the address, which has a secret. */
export async function openInBrowser(
  address: string,
  { env = process.env, platform = process.platform }: BrowserEnvironment = {},
): Promise<string | undefined> {
  const command = browserCommand(address, env, platform);
  if (command === undefined) return "no browser was opened, because there is no display; open the address yourself";
  const [program, ...args] = command;
  const fault = await launchProgram(program, args, patienceMs);
  return fault === undefined ? undefined : `no browser was opened: ${program} ${fault}; open the address yourself`;
}

/** The program that opens an address, with its arguments; undefined without a display. Nothing is passed through a shell. */
export function browserCommand(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] | undefined {
  // The first entry of the list counts; `%s` stands for the address.
  const [given = ""] = (env["BROWSER"] ?? "").split(platform === "win32" ? ";" : ":");
  const [program, ...args] = toWords(given);
  if (program !== undefined)
    return args.some((text) => text.includes("%s"))
      ? [program, ...args.map((text) => text.replaceAll("%s", address))]
      : [program, ...args, address];
  if (platform === "darwin") return ["open", address];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", address];
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some((name) => (env[name] ?? "") !== "");
  return hasDisplay ? ["xdg-open", address] : undefined;
}

/** A file that redirects a browser to an address with a secret; only this user can read it. */
interface RedirectFile {
  readonly url: string;
  /** Never throws. */
  readonly remove: () => void;
}

/**
 * Writes a file that a browser is given instead of the address, because every user of a machine can read command lines. `address` needs no
 * escaping in HTML. Throws if the file cannot be written.
 */
export function writeRedirectFile(dataDirectory: string, address: string): RedirectFile {
  const directory = path.join(dataDirectory, "browse");
  makeOwnDirectories(directory, 0o700);
  const file = path.join(directory, `open-${process.pid}.html`);
  const remove = (): void => rmSync(file, { force: true });
  remove();
  const html = `<!doctype html><title>acp-skills</title><meta http-equiv="refresh" content="0; url=${address}">\n`;
  writeFileSync(file, html, { mode: 0o600, flag: "wx" });
  return { url: pathToFileURL(file).href, remove };
}
