import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterReading } from "../../permission-answers.ts";
import { startCli } from "../../../cli/run-cli.ts";

interface Option {
  readonly optionId: string;
  readonly kind: string;
  readonly name: string;
}

/** A permission request as the editor gets it. */
interface PermissionRequest {
  readonly toolCall: { readonly title: string; readonly content?: readonly Record<string, unknown>[] };
  readonly subject?: { readonly toolCall: PermissionRequest["toolCall"] };
  readonly title?: string;
  readonly options: readonly Option[];
}

/** What the editor answers: the kind of an option, an outcome, or nothing. */
type EditorAnswer = string | { readonly result?: unknown; readonly error?: unknown };

export interface AskingAgent {
  /** The permission requests that reached the editor. */
  readonly asked: readonly PermissionRequest[];
  /** All that reached the editor. */
  readonly received: readonly Record<string, unknown>[];
  /** Sends a prompt, and returns what the agent said. */
  prompt(text: string): Promise<string>;
  /** Decides how the editor answers from now on. */
  answer(choose: (request: PermissionRequest) => EditorAnswer): void;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
}

const agent = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));

/** The scripted agent behind `acp-skills`, both real processes, with an editor and one open session in the directory. */
export async function startAskingAgent(
  cwd: string,
  {
    args = [],
    name = "claude",
    isV2 = false,
    home = cwd,
  }: { args?: readonly string[]; name?: string; isV2?: boolean; home?: string } = {},
): Promise<AskingAgent> {
  const command = [process.execPath, agent, `named=${name}`, ...(isV2 ? ["v2"] : [])];
  const child = startCli([...args, "--", ...command], { cwd, env: { HOME: home } });
  child.stderr.resume();
  const received: Record<string, unknown>[] = [];
  const asked: PermissionRequest[] = [];
  const waiting = new Map<number | string, (message: Message) => void>();
  let choose: (request: PermissionRequest) => EditorAnswer = () => "allow_once";
  let lastId = 0;
  let said = "";
  let turnEnded = (): void => undefined;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    received.push(message as Record<string, unknown>);
    const { id, method, params } = message;
    const update = params?.["update"] as Record<string, unknown> | undefined;
    if (method === undefined && id !== undefined) waiting.get(id)?.(message);
    if (update?.["sessionUpdate"] === "agent_message_chunk") said += (update["content"] as { text: string }).text;
    if (update?.["sessionUpdate"] === "state_update") turnEnded();
    if (method !== "session/request_permission") return;
    const request = params as unknown as PermissionRequest;
    asked.push(request);
    const answer = choose(request);
    const optionId = request.options.find(({ kind }) => kind === answer)?.optionId;
    const response = typeof answer === "string" ? { result: { outcome: { outcome: "selected", optionId } } } : answer;
    afterReading(() => send({ id, ...response }));
  });
  const ask = (method: string, params: object): Promise<Message> => {
    const id = ++lastId;
    send({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  await ask("initialize", { protocolVersion: isV2 ? 2 : 1, clientCapabilities: {}, capabilities: {} });
  const { result } = await ask("session/new", { cwd, mcpServers: [] });
  const sessionId = String(result?.["sessionId"]);
  return {
    asked,
    received,
    async prompt(text) {
      said = "";
      const ended = new Promise<void>((resolve) => (turnEnded = resolve));
      const answered = ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      await (isV2 ? ended : answered);
      return said;
    },
    answer(next) {
      choose = next;
    },
    async close() {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}

/** What Claude asks before it runs a command. */
export function bash(command: string, more: object = {}): string {
  const fields = { name: "Bash", status: "pending", rawInput: { command }, title: command, kind: "execute" };
  return `use ${JSON.stringify({ ...fields, content: [], ...more })}`;
}
