import { SkillsError } from "../../base/errors.ts";

/** A JSON-RPC 2.0 request or notification, or why a value is none. Ids of the wrong type are answered as null. */
export type RpcMessage =
  | { readonly type: "call"; readonly id: RpcId; readonly method: string; readonly params: object | undefined }
  | { readonly type: "notification"; readonly method: string; readonly params: object | undefined }
  | { readonly type: "invalid"; readonly id: RpcId; readonly error: SkillsError };

export type RpcId = string | number | null;

/** What a body asks for: one message, or a batch of messages that is answered in order (CONTRACT C-2.2). */
export type RpcBody =
  { readonly batch: false; readonly message: RpcMessage } | { readonly batch: true; readonly messages: RpcMessage[] };

/** Reads a parsed body. Pure. Throws INVALID_REQUEST for an empty batch, and for one that is too long. */
export function readRpcBody(body: unknown, maxBatch: number): RpcBody {
  if (!Array.isArray(body)) return { batch: false, message: readRpcMessage(body) };
  if (body.length === 0) throw invalid("The batch is empty.");
  if (body.length > maxBatch)
    throw invalid(`The batch has ${body.length} requests; the limit is ${maxBatch}. Send several batches.`);
  return { batch: true, messages: body.map(readRpcMessage) };
}

function readRpcMessage(value: unknown): RpcMessage {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { type: "invalid", id: null, error: invalid("A request must be an object.") };
  const { jsonrpc, method, params, id } = value as Partial<Record<string, unknown>>;
  const hasId = "id" in value;
  if (hasId && !isId(id))
    return { type: "invalid", id: null, error: invalid("id must be a string, a number or null.") };
  const answered = hasId ? (id as RpcId) : null;
  const refuse = (message: string): RpcMessage => ({ type: "invalid", id: answered, error: invalid(message) });
  if (jsonrpc !== "2.0") return refuse('jsonrpc must be "2.0".');
  if (typeof method !== "string") return refuse("method must be a string: the name of a tool.");
  // A list is parameters by position: a valid request, which the tool refuses.
  if (params !== undefined && (typeof params !== "object" || params === null))
    return refuse("params must be an object, or absent.");
  if (!hasId) return { type: "notification", method, params };
  return { type: "call", id: answered, method, params };
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === "string" || (typeof id === "number" && Number.isFinite(id));
}

function invalid(message: string): SkillsError {
  return new SkillsError("INVALID_REQUEST", message);
}
