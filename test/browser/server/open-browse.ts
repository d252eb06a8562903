import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { type App, openApp } from "../../../src/runtime/app.ts";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { serveBrowse } from "../../../src/browser/server/serve-browse.ts";
import type { BrowseOptions } from "../../../src/browser/server.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { sessionHeader } from "../../../src/browser/wire/sessions.ts";
import type { SkillListChange } from "../../../src/browser/wire/skills.ts";

/** What tests read of an answer, whatever it is. */
interface Shown {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly message: string;
  readonly key: string;
  readonly content: string;
  readonly nonce?: string;
  readonly readOnly: boolean;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly json: () => Shown;
}

interface Sent {
  readonly method?: string;
  /** Undefined removes one that is sent by default. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string | Buffer;
}

/** An event as it was received. */
interface Received {
  readonly id: string;
  readonly event: string;
  readonly data: Pick<SkillListChange, "revision" | "put" | "removed"> & { readonly id?: string };
}

/** A skill browser over skills in a temporary directory, and a client that sends what the page sends. */
export interface OpenBrowse {
  readonly origin: string;
  readonly app: App;
  readonly directory: string;
  readonly dataDirectory: string;
  readonly logged: string[];
  readonly idled: () => number;
  readonly newAddress: () => string;
  readonly write: (file: string, content: string | Uint8Array) => void;
  readonly remove: (name: string) => void;
  /** As the page sends it, without cookie and key. */
  readonly send: (target: string, sent?: Sent) => Promise<Answered>;
  /** The same from a signed-in browser. */
  readonly ask: (target: string, sent?: Sent) => Promise<Answered>;
  readonly post: (target: string, value: unknown, sent?: Sent) => Promise<Answered>;
  /** The headers of another browser that signs in. */
  readonly signIn: () => Promise<{ readonly cookie: string; readonly [sessionHeader]: string }>;
  readonly events: (headers?: Readonly<Record<string, string>>) => Promise<OpenEvents>;
  readonly close: () => Promise<void>;
}

interface OpenEvents {
  readonly status: number;
  /** Resolves with the next event of a type that was not taken yet. */
  readonly next: (type: string) => Promise<Received>;
  readonly close: () => void;
}

export interface OpenBrowseOptions extends Partial<BrowseOptions> {
  /** Files below the directory of skills. */
  readonly skills?: Readonly<Record<string, string | Uint8Array>>;
  readonly clock?: Clock;
  /** The directory of skills is the person's own; else it comes with the project. */
  readonly isProject?: boolean;
}

export function skillText(name: string, more = "", body = `# ${name}\n`): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n${body}`;
}

export async function openBrowse({
  skills = { "pdf/SKILL.md": skillText("pdf") },
  clock = systemClock,
  ...options
}: OpenBrowseOptions = {}): Promise<OpenBrowse> {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-browse-")));
  const directory = path.join(home, "skills");
  const dataDirectory = path.join(home, "data");
  const pageDirectory = path.join(home, "page");
  for (const place of [directory, pageDirectory, path.join(home, "project")]) mkdirSync(place);
  writeFileSync(path.join(pageDirectory, "page.js"), "document.title;\n");
  writeFileSync(path.join(pageDirectory, "secret.txt"), "not served");
  const write = (name: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), content);
  };
  for (const [name, text] of Object.entries(skills)) write(name, text);

  const logged: string[] = [];
  const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
  const settings = readOptions({ log, defaultRoots: false, directories: [directory], dataDirectory }, { clock, home });
  const app = openApp(settings);
  const session = app.openSession({ cwd: path.join(home, "project") });
  let idled = 0;
  const server = await serveBrowse(app, session, {
    readOnly: false,
    idleMs: 30 * 60_000,
    allowPrivate: [],
    directory: path.join(home, "project"),
    home,
    dataDirectory,
    pageDirectory,
    idle: () => {
      idled += 1;
    },
    ...options,
  }).catch(async (error: unknown) => {
    session.close();
    await app.close();
    rmSync(home, { recursive: true });
    throw error;
  });
  const { origin, host, hostname, port } = new URL(server.newAddress());

  function exchange(target: string, { method = "GET", headers = {}, body }: Sent): Promise<IncomingMessage> {
    const sent: Sent["headers"] = {
      host,
      "sec-fetch-site": "same-origin",
      ...(method !== "GET" && method !== "HEAD" && { origin }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    };
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
    return new Promise((resolve, reject) => {
      const request = sendRequest(
        { hostname, port, path: target, method, headers: given as never, setHost: false },
        resolve,
      );
      request.once("error", reject);
      request.end(body);
    });
  }

  async function send(target: string, sent: Sent = {}): Promise<Answered> {
    const response = await exchange(target, sent);
    const bytes = Buffer.concat((await response.toArray()) as Buffer[]);
    const text = bytes.toString("utf8");
    const { statusCode: status = 0, headers } = response;
    return { status, headers, text, json: () => JSON.parse(text) as Shown };
  }

  async function signIn(): ReturnType<OpenBrowse["signIn"]> {
    const code = new URL(server.newAddress()).hash.replace("#code=", "");
    const answer = await send("/api/session", { method: "POST", body: JSON.stringify({ code }) });
    const cookie = (answer.headers["set-cookie"]?.[0] ?? "").split(";", 1)[0] ?? "";
    return { cookie, [sessionHeader]: answer.json().key };
  }

  const signedIn = await signIn();
  const ask = (target: string, { headers, ...sent }: Sent = {}): Promise<Answered> =>
    send(target, { ...sent, headers: { ...signedIn, ...headers } });

  async function events(headers: Readonly<Record<string, string>> = {}): Promise<OpenEvents> {
    const response = await exchange("/api/events", { headers: { ...signedIn, ...headers } });
    const received: Received[] = [];
    const waiting = new Set<() => void>();
    let rest = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
        if (field("event") === "") continue;
        received.push({ id: field("id"), event: field("event"), data: JSON.parse(field("data")) as Received["data"] });
      }
      for (const wake of waiting) wake();
    });
    response.on("error", () => undefined);
    return {
      status: response.statusCode ?? 0,
      next: (type) =>
        new Promise((resolve) => {
          const look = (): void => {
            const at = received.findIndex(({ event }) => event === type);
            if (at < 0) return;
            waiting.delete(look);
            resolve(received.splice(0, at + 1).at(-1) as Received);
          };
          waiting.add(look);
          look();
        }),
      close: () => response.destroy(),
    };
  }

  return {
    origin,
    app,
    directory,
    dataDirectory,
    logged,
    idled: () => idled,
    newAddress: server.newAddress,
    write,
    remove: (name) => rmSync(path.join(directory, name), { recursive: true }),
    send,
    ask,
    post: (target, value, sent = {}) => ask(target, { ...sent, method: "POST", body: JSON.stringify(value) }),
    signIn,
    events,
    async close() {
      await server.close();
      session.close();
      await app.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
