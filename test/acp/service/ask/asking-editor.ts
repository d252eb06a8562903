import path from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { wrapAgentCommand } from "../../../../src/acp/wrap-command.ts";
import { silentLog } from "../../../../src/base/log.ts";
import type { AnswerOption } from "../../../../src/runtime/question.ts";
import { startCli } from "../../../cli/run-cli.ts";
import { openStdioClient, type StdioMessage } from "../../../mcp/stdio-client.ts";
import { afterReading, choose } from "../../permission-answers.ts";

const agent = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));

export type Choice = AnswerOption["kind"] | ((message: StdioMessage) => object | undefined) | "never";

export interface AskingEditor {
  /** What the user chooses from now on. */
  choose(choice: Choice): void;
  /** Writes a prompt; resolves with what the agent said in this turn. */
  prompt(text: string): Promise<string>;
  /** What a call of one of our tools by the model returned: structured content, or the error. */
  tool(name: string, input: object): Promise<Record<string, unknown>>;
  send(message: object): void;
  /** Writes whole lines. */
  write(lines: string | Uint8Array): void;
  /** Resolves with the next permission request. */
  asked(): Promise<StdioMessage>;
  /** The titles of all questions. */
  readonly titles: () => readonly string[];
  readonly received: readonly StdioMessage[];
  close(): Promise<void>;
}

/** An editor with a user, and a session with the wrapped scripted agent in `directory`: here, or in processes of the built package. */
export async function openAskingEditor(
  directory: string,
  { first = "reject_once", inProcess = true }: { readonly first?: Choice; readonly inProcess?: boolean } = {},
): Promise<AskingEditor> {
  let choice: Choice = first;
  const respond = (message: StdioMessage): object | undefined => {
    if (message.method !== "session/request_permission" || choice === "never") return undefined;
    const answer = typeof choice === "function" ? choice(message) : choose(message, choice);
    if (answer !== undefined) afterReading(() => client.send(answer));
    return undefined;
  };
  const { input, output, ended } = inProcess ? wrapHere(directory) : wrapThere(directory);
  const client = openStdioClient(input, output, respond);
  const { received } = client;
  let lastId = 0;
  const request = (method: string, params: object): Promise<StdioMessage> =>
    client.ask({ jsonrpc: "2.0", id: ++lastId, method, params } as { readonly id: number });
  await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await request("session/new", { cwd: directory, mcpServers: [] });
  const questions = (): readonly StdioMessage[] =>
    received.filter(({ method }) => method === "session/request_permission");
  const prompt = async (text: string): Promise<string> => {
    const before = received.length;
    await request("session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text }] });
    return received.slice(before).map(spokenIn).join("");
  };
  return {
    choose(next) {
      choice = next;
    },
    prompt,
    async tool(name, input) {
      const said = await prompt(`tool ${name} ${JSON.stringify(input)}`);
      const { result } = JSON.parse(said.slice(said.indexOf("{"))) as {
        readonly result: { readonly structuredContent: Record<string, unknown> };
      };
      return result.structuredContent;
    },
    send: (message) => {
      client.send(message);
    },
    write: (lines) => {
      input.write(lines);
    },
    async asked() {
      const known = new Set(questions());
      return await client.wait((message) => message.method === "session/request_permission" && !known.has(message));
    },
    titles: () => questions().map(({ params }) => (params as { toolCall: { title: string } }).toolCall.title),
    received,
    async close() {
      input.end();
      await ended;
    },
  };
}

function wrapHere(directory: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const options = { dataDirectory: path.resolve(directory, "../data"), log: silentLog };
  const command = { command: process.execPath, args: [agent, "http"] };
  const ended = wrapAgentCommand({ ...command, input, output, options }, { home: path.resolve(directory, "../home") });
  return { input, output, ended };
}

function wrapThere(directory: string) {
  const env = { HOME: path.resolve(directory, "../home"), XDG_DATA_HOME: path.resolve(directory, "../share") };
  const args = ["--", process.execPath, agent, "http"];
  const child = startCli(args, { cwd: directory, env });
  child.stderr.resume();
  const ended = new Promise((resolve) => child.once("close", resolve));
  return { input: child.stdin, output: child.stdout, ended };
}

function spokenIn({ params }: StdioMessage): string {
  const { update } = (params ?? {}) as {
    readonly update?: { readonly sessionUpdate: string; readonly content?: { readonly text?: string } };
  };
  return update?.sessionUpdate === "agent_message_chunk" ? (update.content?.text ?? "") : "";
}
