import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { openApp } from "../../../runtime/app.ts";
import { canIdentifyPeerUsers } from "../../../base/network/peer-users.ts";
import { readOptions } from "../../../runtime/options.ts";
import { running, toRunningOptions } from "../../arguments/running-options.ts";
import { cwd, notes, roots, toSourceOptions } from "../../arguments/shared-options.ts";
import { directoryFault, toAbsolute } from "../../arguments/values.ts";
import { defineCommand, usageError } from "../../command.ts";
import { onInterruption } from "../../report/terminal.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { writeRedirectFile } from "./redirect-file.ts";

const defaultIdleMinutes = 30;

export const command = defineCommand({
  usage: "browse [options]",
  options: {
    port: { type: "string", value: "PORT", help: "The port. Default: any free one." },
    "read-only": { type: "boolean", help: "Nothing can be approved, run, installed or opened from the page." },
    "no-open": { type: "boolean", help: "Only print the address; open no browser." },
    "idle-minutes": {
      type: "string",
      value: "N",
      help: `Stop when no page was open for this long. Default: ${defaultIdleMinutes}.`,
    },
    ...roots,
    ...running,
    cwd,
  },
  examples: ["browse", "browse --read-only --no-open", "browse --skills ./skills --port 7332"],
  notes: [
    "The page is served to this machine only. Its address works once, within five minutes; press Enter for a new one.",
    "The browser is that of $BROWSER, or the system's.",
    notes.sandbox,
    notes.roots,
    notes.data,
  ],
  async run({ options }, terminal) {
    const port = toNumber("--port", options.port, { least: 0, most: 65_535 }) ?? 0;
    const idleMinutes =
      toNumber("--idle-minutes", options["idle-minutes"], { least: 1, most: 10_080 }) ?? defaultIdleMinutes;
    const directory = toAbsolute(options.cwd ?? ".");
    const [fault] = options.cwd === undefined ? [] : directoryFault("--cwd", directory);
    if (fault !== undefined) throw usageError(fault);
    const settings = readOptions(
      {
        log: terminal.log,
        defaultRoots: options["no-default-roots"] !== true,
        skills: (options.skills ?? []).map(toAbsolute),
        ...toRunningOptions(options),
        ...toSourceOptions(options),
      },
      { home: terminal.home },
    );
    // What runCommand sets for commands that read once and end.
    setFlagsFromString("--semi-space-growth-factor=2");
    const app = openApp(settings);
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
        idleMinutes,
        directory,
        home: terminal.home,
        dataDirectory: settings.dataDirectory,
        ...(options["allow-private"] !== undefined && { allowPrivate: options["allow-private"] }),
        idle: () => {
          idle.abort();
        },
      });
      const address = server.newAddress();
      terminal.note(`open ${address}`);
      stopReading = onEnter(() => terminal.note(`open ${server.newAddress()}`));
      // Where the users of connections are known, the server refuses others, who may have read the address in the list of processes.
      const redirect =
        options["no-open"] === true || canIdentifyPeerUsers()
          ? undefined
          : writeRedirectFile(settings.dataDirectory, address);
      removeRedirect = redirect?.remove;
      if (options["no-open"] !== true) {
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
    return idle.signal.aborted ? 0 : 130;
  },
});

function toNumber(
  option: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
  if (!(number >= least && number <= most))
    throw usageError(`${option} needs a number from ${least} to ${most}, not ${text}`);
  return number;
}

/** Calls back for each line that is entered at the terminal. Nothing is read where stdin is no terminal. Returns a function that ends this. */
function onEnter(listener: () => void, stdin: NodeJS.ReadStream = process.stdin): () => void {
  if (!stdin.isTTY) return () => undefined;
  stdin.on("data", listener).on("error", () => undefined);
  return () => {
    stdin.off("data", listener);
    stdin.pause();
  };
}
