import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type App, openApp } from "../../../src/runtime/app.ts";
import { serveBrowse } from "../../../src/browser/server/serve-browse.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import type { RunNews, RunRequest, RunStarted, ShownRun } from "../../../src/browser/wire/runs.ts";
import type { SkillDetail } from "../../../src/browser/wire/skills.ts";
import { type SignInResponse, sessionHeader } from "../../../src/browser/wire/sessions.ts";
import { action } from "../../serve/open-served.ts";

interface Sent {
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** The skill browser over real skills and a real sandbox, as its page uses it. */
export interface OpenRuns {
  readonly app: App;
  /** Works once. */
  readonly address: string;
  readonly write: (file: string, text: string) => void;
  /** Resolves once the browser shows what was written. */
  readonly send: (target: string, sent?: Sent) => Promise<Answered>;
  readonly detail: (skill: string) => Promise<SkillDetail>;
  /** Starts a run of what is shown now. */
  readonly start: (skill: string, runRequest?: Partial<RunRequest>) => Promise<Answered>;
  /** The kinds of the events so far. */
  readonly events: () => readonly string[];
  /** The news of a run up to its end. */
  readonly news: (run: string) => Promise<readonly RunNews[]>;
  /** Starts a run, and waits for its end. */
  readonly run: (skill: string, runRequest?: Partial<RunRequest>) => Promise<ShownRun>;
  readonly close: () => Promise<void>;
}

/** Python in skills named after what they do. */
export function python(name: string, code: string, rest = ""): Record<string, string> {
  return { ...action(name, rest), [`${name}/main.py`]: code };
}

export async function openRuns(
  skills: Readonly<Record<string, string>>,
  { readOnly = false, pageDirectory }: { readonly readOnly?: boolean; readonly pageDirectory?: string } = {},
): Promise<OpenRuns> {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-runs-")));
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(home, "skills", file)), { recursive: true });
    writeFileSync(path.join(home, "skills", file), text);
  };
  mkdirSync(path.join(home, "skills"));
  mkdirSync(path.join(home, "page"));
  for (const [file, text] of Object.entries(skills)) write(file, text);
  const app = openApp(
    readOptions({
      defaultRoots: false,
      directories: [path.join(home, "skills")],
      dataDirectory: path.join(home, "data"),
    }),
  );
  const session = app.openSession({});
  await session.catalog.ready;
  const server = await serveBrowse(app, session, {
    readOnly,
    idleMs: 60 * 60_000,
    allowPrivate: [],
    directory: home,
    home,
    dataDirectory: path.join(home, "data"),
    idle: () => undefined,
    pageDirectory: pageDirectory ?? path.join(home, "page"),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await server.close();
      session.close();
      await app.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    })());
  onTestFinished(close);

  const signIn = new URL(server.newAddress());
  let signedIn: Readonly<Record<string, string>> = {};
  const request = (target: string, { method = "GET", json, body, headers = {} }: Sent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { hostname, port, origin } = signIn;
      const sent = {
        origin,
        "sec-fetch-site": "same-origin",
        "sec-fetch-mode": "cors",
        ...signedIn,
        ...(json !== undefined && { "content-type": "application/json" }),
        ...headers,
      };
      sendRequest({ hostname, port, path: target, method, headers: sent }, resolve)
        .once("error", reject)
        .end(json === undefined ? body : JSON.stringify(json));
    });
  const send = async (target: string, sent: Sent = {}): Promise<Answered> => {
    const response = await request(target, sent);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
    const parsed: unknown = isJson ? JSON.parse(bytes.toString("utf8")) : undefined;
    return { status: response.statusCode ?? 0, headers: response.headers, bytes, json: parsed };
  };
  const code = new URLSearchParams(signIn.hash.slice(1)).get("code");
  const opened = await send("/api/session", { method: "POST", json: { code } });
  const cookie = opened.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  signedIn = { cookie, [sessionHeader]: (opened.json as SignInResponse).key };

  const stream = await request("/api/events", {});
  const told: RunNews[] = [];
  const kinds: string[] = [];
  const waiting = new Set<() => void>();
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      kinds.push(/^event: (.*)$/m.exec(block)?.[1] ?? "");
      const [, data] = /^event: run\ndata: (.*)$/m.exec(block) ?? [];
      if (data !== undefined) told.push(JSON.parse(data) as RunNews);
    }
    for (const look of waiting) look();
  });

  const detail = async (skill: string): Promise<SkillDetail> =>
    (await send(`/api/skills/${encodeURIComponent(skill)}`)).json as SkillDetail;
  const start: OpenRuns["start"] = async (skill, runRequest = {}) => {
    const { digest, nonce } = await detail(skill);
    return await send("/api/runs", { method: "POST", json: { skill, digest, nonce, ...runRequest } });
  };
  const news: OpenRuns["news"] = (run) =>
    new Promise((resolve) => {
      const look = (): void => {
        const own = told.filter((one) => one.run === run);
        if (!own.some(({ type }) => type === "ended")) return;
        waiting.delete(look);
        resolve(own);
      };
      waiting.add(look);
      look();
    });

  return {
    app,
    get address() {
      return server.newAddress();
    },
    write,
    send,
    detail,
    start,
    events: () => kinds,
    news,
    async run(skill, runRequest) {
      const { json } = await start(skill, runRequest);
      const { run } = json as RunStarted;
      await news(run);
      return (await send(`/api/runs/${run}`)).json as ShownRun;
    },
    close,
  };
}
