// A deterministic agent for tests, without any SDK: it does what the words of a prompt say, one sentence after another.
//
//   say TEXT           one message chunk           update N       N message chunks of 300 bytes
//   echo               the prompt's blocks, as JSON   huge N         one message chunk of N characters
//   commands A B …     its list of commands        raw TEXT       TEXT as a line, whatever it is
//   die CODE           ends with this exit code    kill SIGNAL    ends itself by this signal
//   silent             never answers this prompt
//
// Sentences are separated by "; ". Arguments of the command line change how it behaves:
//   embedded (takes embedded resources)  v2 (ACP v2)  commands=A,B (listed with each new session)  early (…before its response)
//   banner (garbage first)  stubborn (ignores the end of stdin and SIGTERM)  mute (answers nothing)  refuse (no session is made)
import { createInterface } from "node:readline";

/** @typedef {{ type: string, text: string, annotations?: object }} Block */
/** @typedef {{ sessionId: string, prompt: Block[] }} Params */
/** @typedef {{ id?: string | number, method?: string, params: Params }} Message */

const manner = new Set(process.argv.slice(2).map((word) => word.split("=")[0]));
const listed =
  process.argv
    .find((word) => word.startsWith("commands="))
    ?.slice("commands=".length)
    .split(",") ?? [];
const isV2 = manner.has("v2");
let sessions = 0;

/** @param {unknown} message */
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
/**
 * @param {string} sessionId
 * @param {object} update
 */
const tell = (sessionId, update) => send({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
/**
 * @param {string} sessionId
 * @param {string} text
 */
const say = (sessionId, text) =>
  tell(sessionId, {
    sessionUpdate: "agent_message_chunk",
    ...(isV2 && { messageId: "m1" }),
    content: { type: "text", text },
  });
/**
 * @param {string} sessionId
 * @param {string[]} names
 */
const tellCommands = (sessionId, names) => {
  const availableCommands = names.map((name) => ({
    ...(isV2 && { type: "command" }),
    name,
    description: `The agent's own ${name}.`,
  }));
  tell(sessionId, { sessionUpdate: "available_commands_update", availableCommands });
};

/**
 * Does what one sentence says; false where the prompt is not to be answered.
 * @param {string} sessionId
 * @param {string} sentence
 * @param {unknown} prompt
 */
function obey(sessionId, sentence, prompt) {
  const [word = "", ...rest] = sentence.split(" ");
  const argument = rest.join(" ");
  switch (word) {
    case "say":
      say(sessionId, argument);
      return true;
    case "echo":
      say(sessionId, JSON.stringify(prompt));
      return true;
    case "update":
      for (let count = 0; count < Number(argument); count++) say(sessionId, String(count).padStart(160, "."));
      return true;
    case "huge":
      say(sessionId, "x".repeat(Number(argument)));
      return true;
    case "commands":
      tellCommands(sessionId, rest);
      return true;
    case "raw":
      process.stdout.write(`${argument}\n`);
      return true;
    case "die":
      process.exit(Number(argument));
    case "kill":
      process.kill(process.pid, /** @type {NodeJS.Signals} */ (argument));
      return false;
    case "silent":
      return false;
    default:
      say(sessionId, JSON.stringify(prompt));
      return true;
  }
}

/**
 * The user's own words: what is annotated is meant for the model.
 * @param {Block} block
 */
const isSaid = ({ type, annotations }) => type === "text" && annotations === undefined;

/**
 * @param {string} method
 * @param {Params} params
 * @param {(result: unknown) => void} answer
 */
function serve(method, params, answer) {
  switch (method) {
    case "initialize": {
      const embeddedContext = manner.has("embedded");
      const v1 = {
        protocolVersion: 1,
        agentCapabilities: { loadSession: true, promptCapabilities: { embeddedContext } },
      };
      const prompt = embeddedContext ? { embeddedContext: {} } : {};
      const v2 = {
        protocolVersion: 2,
        info: { name: "scripted", version: "1" },
        capabilities: { session: { prompt } },
      };
      answer(isV2 ? v2 : v1);
      return;
    }
    case "session/new":
    case "session/fork": {
      const sessionId = `session-${++sessions}`;
      if (manner.has("early")) tellCommands(sessionId, listed);
      answer({ sessionId });
      if (listed.length > 0 && !manner.has("early")) tellCommands(sessionId, listed);
      return;
    }
    case "session/prompt": {
      const words = params.prompt.findLast(isSaid)?.text ?? "";
      if (isV2) answer({ messageId: "u1" });
      const isAnswered = words
        .split("; ")
        .map((sentence) => obey(params.sessionId, sentence, params.prompt))
        .every(Boolean);
      if (isV2) tell(params.sessionId, { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
      else if (isAnswered) answer({ stopReason: "end_turn" });
      return;
    }
    default:
      answer({});
  }
}

/**
 * @param {string} line
 * @returns {Message | undefined}
 */
function parse(line) {
  try {
    /** @type {unknown} */
    const message = JSON.parse(line);
    return /** @type {Message} */ (message);
  } catch {
    process.stderr.write("the scripted agent was sent a line that is not JSON\n");
    return undefined;
  }
}

if (manner.has("banner")) process.stdout.write("Welcome to the scripted agent!\n");
if (manner.has("stubborn")) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = parse(line);
  if (message?.id === undefined || message.method === undefined || manner.has("mute")) return;
  const { id, method, params } = message;
  if (manner.has("refuse") && method === "session/new")
    send({ jsonrpc: "2.0", id, error: { code: -32000, message: "Authentication required" } });
  else
    serve(method, params, (result) => {
      send({ jsonrpc: "2.0", id, result });
    });
});
