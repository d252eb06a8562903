import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { runProxy } from "../../../../src/acp/run-proxy.ts";
import type { SkillsOptions } from "../../../../src/runtime/options.ts";
import { connectChain, runOtherProxy } from "./conductor.ts";
import { type Message, Peer, type Reply, type Stdio } from "./json-rpc-peer.ts";

const agent = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));

export type Link = "ours" | "transparent" | "renaming";

/** An editor before a chain of proxies and the scripted agent, in a project with the skill `pdf`. */
export interface Chain {
  readonly project: string;
  /** All that reached the editor, in order, responses too. */
  readonly atEditor: Message[];
  /** All that reached the agent, in order. */
  readonly atAgent: Message[];
  readonly logged: string[];
  /** Asks, without waiting: the id, and the response. */
  readonly start: (method: string, params: object) => { readonly id: number; readonly replied: Promise<Reply> };
  readonly ask: (method: string, params: object) => Promise<Reply>;
  readonly cancel: (id: number) => void;
  /** Resolves with the first message to the editor for which this is true. */
  readonly until: (holds: (message: Message) => boolean) => Promise<Message>;
  /** The texts that the agent said, in order. */
  readonly said: () => string[];
  readonly close: () => Promise<void>;
}

export function openChain(
  links: readonly Link[],
  {
    manner = [],
    prefix = "",
    options = {},
    respond = () => undefined,
  }: {
    /** How the agent behaves. */
    readonly manner?: readonly string[];
    readonly prefix?: "" | "_";
    readonly options?: SkillsOptions;
    /** The editor's responses. */
    readonly respond?: (message: Message) => Reply | undefined;
  } = {},
): Chain {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-chain-")));
  mkdirSync(join(project, ".agents", "skills", "pdf"), { recursive: true });
  writeFileSync(
    join(project, ".agents", "skills", "pdf", "SKILL.md"),
    "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead the text layer first.\n",
  );
  const logged: string[] = [];
  const proxies: { readonly stdio: Stdio; readonly ended: Promise<void> }[] = links.map((link) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const stdio = { input, output };
    if (link !== "ours") {
      runOtherProxy({ input: output, output: input }, link === "renaming" ? rename : undefined);
      return { stdio, ended: Promise.resolve() };
    }
    const all: SkillsOptions = {
      dataDirectory: join(project, "data"),
      log: (level, text) => logged.push(`${level}: ${text}`),
      ...options,
    };
    return {
      stdio,
      ended: runProxy({ input, output, options: all }, { home: join(project, "home"), version: "0.0.0" }),
    };
  });
  const child = spawn(process.execPath, [agent, ...manner], { stdio: ["pipe", "pipe", "inherit"] });
  const [toEditor, fromEditor] = [new PassThrough(), new PassThrough()];
  const atAgent: Message[] = [];
  const toAgent = new PassThrough();
  toAgent.pipe(child.stdin);
  createInterface({ input: toAgent }).on("line", (line) => atAgent.push(JSON.parse(line) as Message));
  const last = { input: toAgent, output: child.stdout };
  connectChain(
    { input: toEditor, output: fromEditor },
    proxies.map(({ stdio }) => stdio),
    last,
    prefix,
  );

  const atEditor: Message[] = [];
  const waiting = new Set<() => void>();
  const arrived = (message: Message): void => {
    atEditor.push(message);
    for (const look of [...waiting]) look();
  };
  const editor = new Peer({ input: fromEditor, output: toEditor }, ({ id, method, params, respond: send }) => {
    const message = { ...(id !== undefined && { id }), method, params };
    arrived(message);
    const reply = respond(message);
    if (reply !== undefined) send?.(reply);
  });
  const start: Chain["start"] = (method, params) => {
    let id = 0;
    const replied = new Promise<Reply>((resolve) => {
      id = editor.request(method, params, (reply) => {
        arrived({ id, ...reply });
        resolve(reply);
      });
    });
    return { id, replied };
  };
  return {
    project,
    atEditor,
    atAgent,
    logged,
    start,
    ask: async (method, params) => await start(method, params).replied,
    cancel: (id) => {
      editor.cancel(id);
    },
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = atEditor.find(holds);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    said: () => atEditor.flatMap((message) => updateOf(message)?.content?.text ?? []),
    async close() {
      const gone = new Promise((resolve) => child.once("close", resolve));
      for (const { stdio } of proxies) stdio.input.end();
      toAgent.end();
      await Promise.all([gone, ...proxies.map(({ ended }) => ended)]);
      rmSync(project, { recursive: true });
    },
  };
}

interface Update {
  readonly sessionUpdate?: string;
  readonly content?: { readonly text?: string };
  readonly availableCommands?: readonly { readonly name: string }[];
}

export function updateOf({ method, params }: Message): Update | undefined {
  return method === "session/update" ? (params as { update?: Update }).update : undefined;
}

/** Gives every command of a list the prefix `x-`. */
function rename(_method: string, params: unknown): unknown {
  const { update } = (params ?? {}) as { readonly update?: Update };
  if (update?.availableCommands === undefined) return params;
  const availableCommands = update.availableCommands.map((command) => ({ ...command, name: `x-${command.name}` }));
  return { ...(params as object), update: { ...update, availableCommands } };
}
