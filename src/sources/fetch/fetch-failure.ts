import { systemCode } from "../../base/failures/system-code.ts";
import { isSkillsError, SkillsError } from "../../base/errors.ts";

/** Converts what a connection failed with. `host` may have a port. The message contains nothing that the other side sent. */
export function toFetchFailure(error: unknown, host: string): SkillsError {
  // Refused while connecting.
  if (isSkillsError(error)) return error;
  // Undici does not set the code of every error of its parser.
  const code = systemCode(error) || (error instanceof Error && error.name === "HTTPParserError" ? "HPE_INVALID" : "");
  return new SkillsError("ENDPOINT_UNREACHABLE", `${host} ${describe(code)}.`, { cause: error });
}

function describe(code: string): string {
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW")
    return "answered with headers of more than 16 KiB";
  if (code.startsWith("HPE_") || code.startsWith("UND_ERR_RES_")) return "gave an answer that is not valid HTTP";
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE")
    return "closed the connection before the answer was complete; try again";
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "cannot be reached in time; try again";
  if (/CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|EPROTO/.test(code))
    return `has no valid TLS certificate (${code}); a certificate authority of your own is trusted with NODE_EXTRA_CA_CERTS`;
  return code === "" ? "cannot be asked" : `cannot be asked (${code})`;
}
