const revisionKey = "io.modelcontextprotocol/protocolVersion";

/**
 * The headers that MCP over HTTP wants beside a message, and that a message over stdio does without: since 2026-07-28 each names its
 * revision, its method and what it is about; before, the revision that `initialize` settled on.
 */
export function toRequestHeaders(message: unknown, settledRevision: string | undefined): Record<string, string> {
  const { method, params } = toRecord(message);
  const { _meta, name, uri } = toRecord(params);
  const revision = toRecord(_meta)[revisionKey];
  if (typeof revision !== "string") {
    return settledRevision === undefined || method === "initialize" ? {} : { "mcp-protocol-version": settledRevision };
  }
  const subject = name ?? uri;
  return {
    "mcp-protocol-version": toHeaderValue(revision),
    ...(typeof method === "string" && { "mcp-method": toHeaderValue(method) }),
    ...(typeof subject === "string" && { "mcp-name": toHeaderValue(subject) }),
  };
}

/** A record's fields; none of anything else. */
export function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Plain where a header can carry it, else the specification's base64 form. */
function toHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
