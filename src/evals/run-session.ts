import { PassThrough } from "node:stream";
import { type WrapCommandOptions, wrapAgentCommand } from "../acp/wrap-command.ts";
import { type Clock, withinTime } from "../base/clock.ts";
import { counted } from "../base/text/code-points.ts";
import { version } from "../base/version.ts";
import { arrayOf, fieldsOf } from "../client/json.ts";
import { type PeerResponse, connectPeer } from "../conformance/peer.ts";
import { type TranscriptEntry, createRecording } from "../conformance/transcript.ts";
import { initialize, requestPermission, sessionNew, sessionPrompt } from "../wire/methods.ts";

export interface EvalRequest extends Pick<WrapCommandOptions, "command" | "args" | "env" | "options"> {
  /** The session's directory. */
  readonly cwd: string;
  readonly prompt: string;
  /** The maximum duration of the session, in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum number of tool calls, after which the session ends. */
  readonly maxCalls: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The record of one session with one prompt. */
export interface EvalSession {
  readonly entries: readonly TranscriptEntry[];
  /** The text of the agent, without its thoughts. */
  readonly answer: string;
  /** The stop reason that the agent gave; `failed` if it gave none. */
  readonly stopReason: string;
  /** Why there is no answer: a sentence without full stop. */
  readonly fault?: string;
  /** Whether the agent answered `initialize`. */
  readonly hasStarted?: true;
  readonly durationMs: number;
  /** The total number of tokens, if the agent reports its usage. */
  readonly tokens?: number;
  /** Permission requests, all of which were rejected. */
  readonly rejected: number;
}

/** How long an agent has to end after its session, in milliseconds. */
const endMs = 20_000;

/**
 * Opens a fresh session of an agent with skills, as an editor would, sends one prompt, and ends the agent. Permissions beyond the options
 * are rejected, because there is no user to ask. Never throws for what an agent does.
 */
export async function runSession(request: EvalRequest): Promise<EvalSession> {
  const { command, args = [], env, cwd, options = {}, prompt, timeoutMs, maxCalls, clock, signal } = request;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const closing = new AbortController();
  const startedAt = clock.now();
  const wrapped = { command, args, env, cwd, input, output, options };
  const exited = wrapAgentCommand(wrapped, { closing: closing.signal });
  let [rejected, calls] = [0, 0];
  let started: { readonly hasStarted?: true } = {};
  const recorder = createRecording().open("eval");
  const peer = connectPeer({
    ...{ side: "agent", input: output, output: input, recorder, clock },
    toId: (number) => number,
    requested: (id, method, params) => {
      if (method === requestPermission) rejected++;
      const answer = method === requestPermission ? { result: reject(params) } : { error: unknownMethod };
      peer.send({ jsonrpc: "2.0", id, ...answer });
    },
    changed() {
      const [last] = recorder.entries.slice(-1);
      if (last && updateOf(last)?.["sessionUpdate"] === "tool_call" && ++calls > maxCalls)
        peer.leave(`it made more than ${counted(maxCalls, "tool call")}`);
    },
  });
  exited.then(
    ({ exitCode }) => peer.leave(`the agent exited with code ${exitCode}`),
    (error: unknown) => peer.leave(error instanceof Error ? error.message : String(error)),
  );
  const interrupt = (): void => peer.leave("it was interrupted");
  if (signal.aborted) interrupt();
  signal.addEventListener("abort", interrupt);
  const ask = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> =>
    resultOf(method, await peer.request(method, params, timeoutMs - (clock.now() - startedAt)));
  try {
    await ask(initialize, {
      protocolVersion: 1,
      clientInfo: { name: "acp-skills eval", version },
      clientCapabilities: {},
    });
    started = { hasStarted: true };
    const { sessionId } = await ask(sessionNew, { cwd, mcpServers: [] });
    const ended = await ask(sessionPrompt, { sessionId, prompt: [{ type: "text", text: prompt }] });
    return { ...recorded(), stopReason: String(ended["stopReason"]), ...tokensOf(ended) };
  } catch (error) {
    return { ...recorded(), stopReason: "failed", fault: error instanceof Error ? error.message : String(error) };
  } finally {
    signal.removeEventListener("abort", interrupt);
    input.end();
    const ended = exited.catch(() => true);
    if ((await withinTime(ended, clock, endMs)) === undefined) closing.abort();
    await ended;
  }

  function recorded(): Omit<EvalSession, "stopReason" | "fault" | "tokens"> {
    const { entries } = recorder;
    return {
      ...started,
      entries,
      answer: answerIn(entries),
      durationMs: Math.round(clock.now() - startedAt),
      rejected,
    };
  }
}

const unknownMethod = { code: -32601, message: "Method not found" };

/** The response to a permission request: an option that rejects, else cancelled. */
function reject(params: unknown): object {
  const options = arrayOf(fieldsOf(params)?.["options"]).map(fieldsOf);
  const option = options.find((one) => one?.["kind"] === "reject_once");
  return {
    outcome: option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option["optionId"] },
  };
}

function resultOf(method: string, response: PeerResponse): Readonly<Record<string, unknown>> {
  if ("failed" in response) throw new Error(`${method}: ${response.failed}`);
  if ("error" in response) {
    const { message } = fieldsOf(response.error) ?? {};
    const reason = typeof message === "string" ? message.replace(/\.$/, "") : JSON.stringify(response.error);
    throw new Error(`${method}: ${reason.slice(0, 300)}`);
  }
  return fieldsOf(response.result) ?? {};
}

/** The session update in a message of an agent; undefined for other messages. */
function updateOf({ from, message }: TranscriptEntry): ReturnType<typeof fieldsOf> {
  return from === "agent" ? fieldsOf(fieldsOf(fieldsOf(message)?.["params"])?.["update"]) : undefined;
}

function tokensOf({ usage }: Readonly<Record<string, unknown>>): { readonly tokens?: number } {
  const { totalTokens } = fieldsOf(usage) ?? {};
  return typeof totalTokens === "number" ? { tokens: totalTokens } : {};
}

function answerIn(entries: readonly TranscriptEntry[]): string {
  const texts = entries.map((entry) => {
    const { sessionUpdate, content } = updateOf(entry) ?? {};
    const text = sessionUpdate === "agent_message_chunk" ? fieldsOf(content)?.["text"] : undefined;
    return typeof text === "string" ? text : "";
  });
  return texts.join("");
}
