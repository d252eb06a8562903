import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { type App, openApp } from "../../src/runtime/app.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { type CallerConfig, type ServeConfig, defaultConfig } from "../../src/serve/config.ts";
import { serveHttp } from "../../src/serve/serve-http.ts";
import type { ListenOptions } from "../../src/serve/listen.ts";
import { readOptions } from "../../src/runtime/options.ts";
import type { SessionSkills } from "../../src/skills/skillset.ts";
import { callerConfig, tokenOf } from "./caller-config.ts";

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

interface Sent {
  /** The name of a caller of the configuration; nobody unless given. */
  readonly caller?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** A whole app behind HTTP, over skills in a temporary directory. */
export interface OpenServer {
  readonly url: string;
  readonly app: App;
  readonly session: SessionSkills;
  readonly directory: string;
  readonly logged: string[];
  readonly writeFile: (path: string, content: string | Uint8Array) => void;
  readonly writeSkill: (name: string, text?: string) => void;
  readonly removeSkill: (name: string) => void;
  readonly send: (path: string, sent?: Sent) => Promise<Answered>;
  readonly close: () => Promise<void>;
}

interface ServerOptions extends Partial<Omit<ServeConfig, "callers">> {
  /** With everything that is not given as by default. */
  readonly callers?: readonly (Pick<CallerConfig, "name"> & Partial<CallerConfig>)[];
  /** Names of instruction skills, or files below the directory of skills. */
  readonly skills?: readonly string[] | Readonly<Record<string, string | Uint8Array>>;
  readonly listen?: Partial<ListenOptions>;
  readonly clock?: Clock;
}

export async function openServer({
  callers = [],
  skills = [],
  listen,
  clock = systemClock,
  ...config
}: ServerOptions = {}): Promise<OpenServer> {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-http-")));
  const directory = path.join(home, "skills");
  mkdirSync(directory);
  const writeFile = (name: string, text: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  };
  const writeSkill = (name: string, text = `Does ${name}.`): void =>
    writeFile(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: ${text}\n---\n# ${name}\n`);
  if (Array.isArray(skills)) for (const name of skills as readonly string[]) writeSkill(name);
  else for (const [name, text] of Object.entries(skills)) writeFile(name, text);

  const logged: string[] = [];
  const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
  const settings = readOptions(
    {
      log,
      defaultRoots: false,
      directories: [directory],
      dataDirectory: path.join(home, "data"),
      sources: config.sources ?? [],
    },
    { clock },
  );
  const app = openApp(settings);
  const session = app.openSession({});
  await session.catalog.ready;
  const server = await serveHttp(
    app,
    session,
    {
      ...defaultConfig,
      ...config,
      callers: callers.map(({ name, ...rest }) => callerConfig(name, rest)),
    },
    { host: "127.0.0.1", port: 0, ...listen },
  );

  return {
    url: server.url,
    app,
    session,
    directory,
    logged,
    writeFile,
    writeSkill,
    removeSkill: (name) => rmSync(path.join(directory, name), { recursive: true }),
    send: (target, { caller, method = "GET", headers = {}, body } = {}) =>
      send(server.url, target, {
        method,
        headers: { ...(caller !== undefined && { authorization: `Bearer ${tokenOf(caller)}` }), ...headers },
        body,
      }),
    async close() {
      await server.close();
      session.close();
      await app.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function send(
  url: string,
  target: string,
  { method, headers, body }: Required<Pick<Sent, "method" | "headers">> & { readonly body: Sent["body"] },
): Promise<Answered> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = sendRequest({ hostname, port, path: target, method, headers: headers as never }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const bytes = Buffer.concat(chunks);
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, bytes, text: bytes.toString("utf8") });
      });
    });
    request.once("error", reject);
    request.end(body);
  });
}
