import { LimitedMap } from "../../../base/limited-map.ts";
import { type Log, createOnceLog, type OnceLog } from "../../../base/log.ts";
import { SkillsError } from "../../../base/errors.ts";
import { toWireError } from "../../../wire/error-table.ts";
import * as methods from "../../../wire/methods.ts";
import {
  type MessageFields,
  isEnvelope,
  type Prefix,
  readBatch,
  readMessageFields,
  readInner,
  rename,
  unwrap,
  wrap,
} from "./envelope.ts";
import { type JsonValueRange, readObject, readString } from "../json-ranges.ts";
import { SteadyEnvelopes } from "./steady-envelopes.ts";

/** The lines of the conductor, sorted: plain messages of the editor and of the agent, and answers to the refused messages. */
export type Sorted = Readonly<Record<"editor" | "agent" | "conductor", readonly Buffer[]>>;

interface Incoming {
  readonly from: keyof Sorted;
  readonly pieces: readonly Buffer[];
}

/** The maximum number of the agent's requests that are remembered. If there are more, responses to the oldest pass unread. */
const askedLimit = 4_096;
/** The maximum length of a remembered id. No conductor makes longer ids. */
const idLimit = 1_024;
/** The maximum size of a block that is read as text. Longer blocks are one huge line, and the length of a string is limited. */
const textLimit = 1024 * 1024;

/**
 * Finds out from which side a line of the conductor comes. The conductor sends the requests of both sides, so an id names one request.
 * Forwarded requests therefore keep their ids. Responses and cancellations belong to this hop, and keep all their bytes.
 */
export class Routing {
  readonly #log: Log;
  readonly #once: OnceLog;
  /** The ids of the agent's requests. The editor responds to them and to those of acp-skills, the agent to all others. */
  readonly #askedByAgent = new LimitedMap<string, true>(askedLimit);
  readonly #envelopes = new SteadyEnvelopes();
  /** The prefix of the conductor's methods; undefined until acp-skills is initialized as a proxy. */
  #prefix: Prefix | undefined;

  constructor(log: Log) {
    this.#log = log;
    this.#once = createOnceLog(log);
  }

  /** Sorts the lines of the conductor. The lines of the editor and the agent are unwrapped. */
  readBlock(block: Buffer): Sorted {
    const sorted = { editor: [] as Buffer[], agent: [] as Buffer[], conductor: [] as Buffer[] };
    const text = block.length > textLimit ? "" : block.toString("latin1");
    const steady: string[] = [];
    for (let from = 0, to = 0; from < block.length; from = to) {
      to = (text === "" ? block.indexOf(lineFeed, from) : text.indexOf("\n", from)) + 1 || block.length;
      if (this.#envelopes.unwrap(text, from, to, this.#prefix ?? "", steady)) continue;
      for (const incoming of this.#readLine(block.subarray(from, to))) {
        if (incoming.from === "agent") addSteady(sorted.agent, steady);
        for (const piece of incoming.pieces) sorted[incoming.from].push(piece);
      }
    }
    addSteady(sorted.agent, steady);
    return sorted;
  }

  /** Reads a line. The messages of a batch are passed on one by one, because agents and editors read no batches. */
  #readLine(line: Buffer): readonly Incoming[] {
    const fields = readMessageFields(line);
    const batch = fields === undefined ? readBatch(line) : undefined;
    if (batch === undefined) return asList(fields === undefined ? this.#ignore(line) : this.#read(line, fields));
    const messages = batch.map((element) => [element, readMessageFields(element)] as const);
    const isFaulty = batch.length === 0 || messages.some(([, inside]) => inside === undefined);
    return [
      ...messages.flatMap(([element, inside]) => (inside === undefined ? [] : asList(this.#read(element, inside)))),
      ...(isFaulty ? [invalidBatch] : []),
    ];
  }

  /** Reads a message. Undefined if nothing is passed on. */
  #read(line: Buffer, fields: MessageFields): Incoming | undefined {
    const { id, method } = fields;
    if (method === undefined) return id === undefined ? this.#ignore(line) : this.#responded(line, id);
    if (isEnvelope(line, method)) return this.#unwrapped(line, fields);
    const name = readString(line, method);
    switch (name) {
      case methods.proxyInitialize:
      case `_${methods.proxyInitialize}`:
        this.#prefix = name.startsWith("_") ? "_" : "";
        return { from: "editor", pieces: [...rename(line, method, methods.initialize), ...missingBreak(line)] };
      case methods.cancelRequest:
        return { from: this.#cancelledBy(line, fields), pieces: [line, ...missingBreak(line)] };
      case undefined:
        return this.#ignore(line);
      default:
        if (this.#prefix !== undefined) return { from: "editor", pieces: [line, ...missingBreak(line)] };
        return this.#refuse(line, id, name);
    }
  }

  /** Converts messages for the agent to lines for the conductor. */
  toSuccessor(block: Buffer): Buffer[] {
    const pieces: Buffer[] = [];
    for (let from = 0, to = 0; from < block.length; from = to) {
      to = block.indexOf(lineFeed, from) + 1 || block.length;
      const line = block.subarray(from, to);
      const fields = readMessageFields(line);
      const isForHop = fields?.method === undefined || isCancel(line, fields.method);
      pieces.push(isForHop ? line : wrap(line, fields, this.#prefix ?? ""));
    }
    return pieces;
  }

  #responded(line: Buffer, id: JsonValueRange): Incoming | undefined {
    const key = keyOf(line, id);
    // A null id is in error responses to unreadable messages, of acp-skills or of the agent: nobody knows which.
    if (key === "null") return this.#ignore(line);
    const isOfEditor = this.#askedByAgent.delete(key) || key.startsWith(`"${methods.ownRequestPrefix}`);
    return { from: isOfEditor ? "editor" : "agent", pieces: [line, ...missingBreak(line)] };
  }

  #unwrapped(line: Buffer, fields: MessageFields): Incoming | undefined {
    const inner = readInner(line, fields);
    if (inner?.method === undefined) return this.#refuseEnvelope(line, fields.id, "needs params with a method");
    // The conductor would take the inner message for one of acp-skills.
    if (isForConductor(line, inner.method))
      return this.#refuseEnvelope(line, fields.id, "must not contain a message for the conductor");
    const { id } = fields;
    if (id !== undefined) this.#remember(keyOf(line, id));
    // The cancellation names a request of another hop. Each hop cancels its own requests.
    else if (isCancel(line, inner.method)) return undefined;
    return { from: "agent", pieces: unwrap(line, id, inner) };
  }

  #remember(id: string): void {
    if (id.length <= idLimit) this.#askedByAgent.set(id, true);
  }

  #cancelledBy(line: Buffer, { params }: MessageFields): "editor" | "agent" {
    let asked = "";
    if (params !== undefined)
      readObject(line, params.from, (key, value) => {
        if (readString(line, key) === "requestId") asked = keyOf(line, value);
      });
    return this.#askedByAgent.has(asked) ? "agent" : "editor";
  }

  #refuse(line: Buffer, id: JsonValueRange | undefined, name: string): Incoming | undefined {
    const isAgentExpected = name === methods.initialize;
    const message = isAgentExpected
      ? `acp-skills proxy is no agent: it must stand before one in a chain of proxies, and be initialized with ${methods.proxyInitialize}. To add skills to one agent, run: acp-skills -- AGENT`
      : `${methods.proxyInitialize} must come before ${name.slice(0, 100)}.`;
    if (isAgentExpected) this.#once.logOnce("error", message);
    if (id !== undefined) return this.#answer(line, id, message);
    if (!isAgentExpected) this.#once.logOnce("warning", `${message} It was ignored.`, "early");
    return undefined;
  }

  #refuseEnvelope(line: Buffer, id: JsonValueRange | undefined, reason: string): Incoming | undefined {
    const message = `${methods.proxySuccessor} ${reason}.`;
    if (id !== undefined) return this.#answer(line, id, message);
    this.#once.logOnce("warning", `${message} It was ignored.`);
    return undefined;
  }

  #answer(line: Buffer, id: JsonValueRange, message: string): Incoming {
    const error = JSON.stringify(toWireError(new SkillsError("INVALID_REQUEST", message), { log: this.#log }));
    const exactId = line.toString("utf8", id.from, id.to);
    return { from: "conductor", pieces: [Buffer.from(`{"jsonrpc":"2.0","id":${exactId},"error":${error}}\n`)] };
  }

  #ignore(line: Buffer): Incoming | undefined {
    const excerpt = line.toString("utf8", 0, 80).trim();
    if (excerpt === "") return undefined;
    const message = `The conductor wrote a line that is not a message; it was ignored: ${JSON.stringify(excerpt)}`;
    this.#once.logOnce("warning", message, "garbage");
    return undefined;
  }
}

/** The answer to an invalid batch, sent once for all its invalid elements. */
const invalidBatch: Incoming = {
  from: "conductor",
  pieces: [
    Buffer.from(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"A batch must have messages, and nothing else."}}\n',
    ),
  ],
};

function asList(incoming: Incoming | undefined): readonly Incoming[] {
  return incoming === undefined ? [] : [incoming];
}

/** Appends the steady lines to `pieces` and empties `steady`, so that the agent's messages stay in order. */
function addSteady(pieces: Buffer[], steady: string[]): void {
  if (steady.length > 0) pieces.push(Buffer.from(steady.splice(0).join(""), "latin1"));
}

/** Whether a method is one between a conductor and its proxies, or unreadable. */
function isForConductor(line: Buffer, method: JsonValueRange): boolean {
  const name = readString(line, method);
  return name === undefined || /^_?proxy\//.test(name);
}

function isCancel(line: Buffer, method: JsonValueRange): boolean {
  return readString(line, method) === methods.cancelRequest;
}

/** Makes the key of an id, equal for all spellings of the id: strings are unescaped, numbers may be larger than 2^53. */
function keyOf(line: Buffer, id: JsonValueRange): string {
  const text = readString(line, id);
  return text === undefined ? line.toString("latin1", id.from, id.to) : `"${text}`;
}

const lineFeed = 10;
const lineBreak = Buffer.from("\n");

/** Returns the line break that the last line of a stream may lack. */
function missingBreak(line: Buffer): readonly Buffer[] {
  return line.at(-1) === lineFeed ? [] : [lineBreak];
}
