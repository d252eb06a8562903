import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { openApp } from "../../../runtime/app.ts";
import { isLoopbackListenHost } from "../../../serve/listen.ts";
import { openGivenPorts } from "../../../given-ports.ts";
import { readOptions } from "../../../runtime/options.ts";
import { logPublishedProblems } from "../../../skills/skillset.ts";
import { newToken, toTokenDigest } from "../../../wire/http.ts";
import { running, toRunningOptions, toSkillsOptions } from "../../arguments/running-options.ts";
import { cwd, roots } from "../../arguments/shared-options.ts";
import { existingDirectory, ports, reasonOf, toAbsolute, parseNumber } from "../../arguments/values.ts";
import { choice, defineCommand, usageError, text, flag, exit } from "../../command.ts";
import { type Terminal, onInterruption, type NoteOutput } from "../../report/terminal.ts";
import {
  type LocalTokens,
  type ServeConfig,
  defaultConfig,
  withLocalCaller,
  type CallerShares,
} from "../../../serve/config.ts";
import { type Log, createOnceLog } from "../../../base/log.ts";
import type { HttpServer } from "../../../serve/serve-http.ts";
import { counted } from "../../../base/text/code-points.ts";
import { safeText } from "../../report/safe-text.ts";
import { shownPath } from "../../../base/paths/location.ts";
import { prettyProblem } from "../../report/problem-report.ts";
import { type Clock, every } from "../../../base/clock.ts";
import { fileStamp } from "../../../base/paths/identity.ts";

const defaultPort = 7331;

export const command = defineCommand({
  options: {
    port: text("PORT", `The port. Default: ${defaultPort}; 0: any free one.`),
    host: text("HOST", "The address to listen on. Default: 127.0.0.1, this machine only."),
    config: text("FILE", "JSON with provider, access, callers, tokens. Without callers, a token for you is printed."),
    "new-token": flag("Print a new token, and the digest for the configuration; then exit."),
    "log-level": choice(["debug", "info", "warning", "error"], "JSON on stderr; debug: every request. Default: info."),
    audit: text("FILE", "Also append each row of the ledger to FILE, as JSON Lines; -: to the log."),
    ...roots,
    ...running,
    cwd,
  },
  examples: ["serve --skills ./skills", "serve --config serve.json --host 0.0.0.0 --port 80", "serve --new-token"],
  async run({ options }, terminal) {
    if (options["new-token"] === true) {
      await terminal.print([newTokenText()]);
      return exit.done;
    }
    const { audit, host = "127.0.0.1", "log-level": level = "info" } = options;
    const port = parseNumber("--port", options.port ?? String(defaultPort), ports);
    toRunningOptions(options);
    const directory = existingDirectory("--cwd", options.cwd);
    if (audit !== undefined && audit !== "-") checkAudit(audit);
    const opened = await loadServeConfig(options.config, terminal);
    if (opened === undefined) return exit.usage;
    const { config: given, skills: configured } = opened;
    const { createHttpLog } = await import("../../../serve/telemetry.ts");
    const { log, requestEnded } = await createHttpLog({ level });
    const skillsOptions = toSkillsOptions(options, log);
    const settings = readOptions({
      ...skillsOptions,
      directories: [...(skillsOptions.directories ?? []), ...configured],
      sources: [...(skillsOptions.sources ?? []), ...given.sources],
      ...(audit !== undefined && { audit: audit === "-" ? audit : toAbsolute(audit) }),
    });
    // main.ts sets a growth factor of 1 for commands that read once and end. With the default, a server collects half as often. An index
    // of thousands of skills leaves megabytes of garbage: collect it after growing by a fifth instead of doubling.
    setFlagsFromString("--heap-growing-percent=20");
    setFlagsFromString("--semi-space-growth-factor=2");
    const { config, tokens } =
      given.callers.length === 0 && isLoopbackListenHost(host)
        ? withLocalCaller(given)
        : { config: given, tokens: undefined };
    const givenPorts = await openGivenPorts(settings);
    const app = openApp(settings, givenPorts);
    const { signal, stop } = onInterruption();
    let [stopFollowing, stopSharing] = [(): void => undefined, (): void => undefined];
    try {
      terminal.progress.show("reading skills");
      const session = app.openSession({ cwd: directory });
      session.catalog.ready.then(terminal.progress.done, terminal.progress.done);
      logPublishedProblems(session, log);
      const { serveHttp } = await import("../../../serve/serve-http.ts");
      const callers = await joinCallers(config, givenPorts, log);
      const callersFollow = givenPorts.followCallers !== undefined;
      const address = { host, port, requestEnded, callersFollow };
      const served = await serveHttp(app, session, { ...config, ...callers.all() }, address);
      const server = callers.serve(served);
      stopSharing = callers.close;
      terminal.note(`listening on ${server.url}`);
      if (tokens !== undefined) noteTokens(tokens, server.url, terminal);
      if (options.config !== undefined)
        stopFollowing = followFile(toAbsolute(options.config), app.clock, () => {
          const file = toAbsolute(options.config ?? "");
          reload(server, { file, started: given, isLocal: tokens !== undefined, log }).catch((error: unknown) =>
            log("error", `${file} was not read again: ${String(error)}`),
          );
        });
      if (!signal.aborted) await once(signal, "abort");
      const cancelled = await server.close();
      if (cancelled > 0) terminal.note(`cancelled ${cancelled} requests that still ran`);
    } finally {
      stop();
      stopFollowing();
      stopSharing();
      await app.close();
    }
    return exit.interrupted;
  },
});

/** Joins the callers of the file with those of a cluster, which may change at any time. */
async function joinCallers(
  config: CallerShares,
  { followCallers }: Awaited<ReturnType<typeof openGivenPorts>>,
  log: Log,
) {
  let ofFile = config;
  let replace = (): void => undefined;
  const { logOnce } = createOnceLog(log);
  const follower = await followCallers?.(() => replace());
  const all = (): CallerShares => {
    const names = new Set(ofFile.callers.map(({ name }) => name));
    const shared = follower?.callers() ?? [];
    for (const { name } of shared)
      if (names.has(name))
        logOnce("warning", `The caller ${name} is in the file and in the cluster; that of the file counts here.`);
    return { ...ofFile, callers: [...ofFile.callers, ...shared.filter(({ name }) => !names.has(name))] };
  };
  return {
    all,
    close: () => follower?.close(),
    /** Lets callers of the file be replaced, while callers of the cluster follow their changes. */
    serve(server: HttpServer): HttpServer {
      replace = () => {
        const gone = server.replaceCallers(all());
        if (gone.length > 0)
          log("info", `Callers of the cluster, removed or with other rights now: ${gone.join(", ")}.`);
      };
      replace();
      return {
        ...server,
        replaceCallers(next) {
          ofFile = next;
          return server.replaceCallers(all());
        },
      };
    },
  };
}

/** Applies the callers and shares of a changed configuration. If it has errors, those in force stay. */
async function reload(
  server: Pick<HttpServer, "replaceCallers">,
  { file, started, isLocal, log }: { readonly file: string; readonly started: ServeConfig; readonly isLocal: boolean; readonly log: Log }, // prettier-ignore
): Promise<void> {
  const { readConfigFile } = await import("../../../serve/read-config.ts");
  const { config, problems } = readConfigFile(file, process.env);
  if (config === undefined) {
    for (const { line, column, message, fix } of problems)
      log("error", `${file}:${line}:${column}: ${message}. ${fix} The callers and shares from before stay in force.`);
    return;
  }
  // The printed token of this process stays valid while the file has no callers.
  const keeps = isLocal && config.callers.length === 0;
  if (!keeps) {
    const gone = server.replaceCallers(config);
    const who = gone.length === 0 ? "nobody lost access" : `removed, or with other rights now: ${gone.join(", ")}`;
    log(
      "info",
      `${file} was read again: ${counted(config.callers.length, "caller")}, ${counted(config.shares.length, "share")}; ${who}.`,
    );
  }
  const names = Object.keys(started) as (keyof ServeConfig)[];
  const others = names.filter(
    (name) => name !== "callers" && name !== "shares" && JSON.stringify(started[name]) !== JSON.stringify(config[name]),
  );
  if (others.length > 0) log("warning", `${file}: ${others.join(", ")} changed, which counts after a restart.`);
}

/** Prints the tokens, which are valid only for this process: a server for others has callers in its configuration. */
function noteTokens({ bearer, share }: LocalTokens, url: string, { note }: NoteOutput): void {
  note(`call it as yourself:  curl -H "Authorization: Bearer ${bearer}" ${url}/.well-known/skill-sharing`);
  note(`install its skills:   npx skills add ${url}/s/${share}/`);
  note("both secrets are for you only and valid until this process ends; for lasting tokens, use --config FILE");
}

/** A new token for a caller, and the digest of the token for the configuration. */
function newTokenText(): string {
  const token = newToken();
  return `token:  ${token}\ndigest: sha256:${toTokenDigest(token).toString("hex")}\n`;
}

/** Throws INVALID_OPTIONS at once if the audit file cannot be written. */
function checkAudit(file: string): void {
  try {
    appendFileSync(toAbsolute(file), "", { mode: 0o600 });
  } catch (error) {
    throw usageError(`--audit ${file} cannot be written: ${reasonOf(error)}`);
  }
}

/**
 * Reads the configuration of a file, with absolute directories of skills, or the default without a file. Undefined if it has errors, which
 * are printed with code frames on stderr.
 */
async function loadServeConfig(given: string | undefined, terminal: Terminal) {
  if (given === undefined) return { config: defaultConfig, skills: [] };
  const file = toAbsolute(given);
  const { readConfigFile } = await import("../../../serve/read-config.ts");
  const { config, skills, problems, sourceLine } = readConfigFile(file, process.env);
  const { cwd, paint, columns } = terminal;
  for (const problem of problems)
    terminal.echo(prettyProblem(problem, { cwd, paint, columns, sourceLine: (_file, line) => sourceLine(line) }));
  if (config !== undefined) return { config, skills };
  terminal.note(`${safeText(shownPath(file, cwd))} has ${counted(problems.length, "error")}; nothing is served`);
  return undefined;
}

const checkEvery = 1_000;

/**
 * Calls `changed` when a file changed, links followed, and at SIGHUP, except in a terminal, which may be closing. Returns a function that
 * stops it.
 */
function followFile(file: string, clock: Clock, changed: () => void): () => void {
  let before = fileStamp(file);
  const hangUp = (): void => {
    before = fileStamp(file);
    changed();
  };
  const stop = every(clock, checkEvery, () => {
    if (fileStamp(file) !== before) hangUp();
  });
  if (!process.stdin.isTTY) process.on("SIGHUP", hangUp);
  return () => {
    process.off("SIGHUP", hangUp);
    stop();
  };
}
