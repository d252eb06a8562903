import { type JsonObject, fieldsOf } from "../json.ts";

/** The parts of a session update that tell what kind it is. */
export interface UpdateParams {
  readonly sessionId: string;
  readonly kind: string;
  readonly update: JsonObject;
  readonly meta: JsonObject | undefined;
  /** The update's fields lie beside `sessionId`, as in the RFD's sample, and not below `update` (ACP.md A-5). */
  readonly isFlat: boolean;
}

/** Reads the params of `session/update`; undefined if they are not of one. */
export function readUpdateParams(params: unknown): UpdateParams | undefined {
  const fields = fieldsOf(params);
  const { sessionId, update: given, _meta } = fields ?? {};
  const isFlat = given === undefined;
  const update = isFlat ? fields : fieldsOf(given);
  const kind = update?.["sessionUpdate"];
  return typeof sessionId === "string" && sessionId.length <= maxSessionId && update && typeof kind === "string"
    ? { sessionId, kind, update, meta: fieldsOf(_meta), isFlat }
    : undefined;
}

const maxSessionId = 1024;
