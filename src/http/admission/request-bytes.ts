import type { ServerLimits } from "../config/serve-config.ts";
import type { HttpCaller } from "../http-caller.ts";

/** Reading JSON blocks for as long as it is large: nobody without credentials can do that for seconds. */
const maxAnonymousBytes = 512 * 1024;

/** Bytes of one request of a caller. */
export function requestBytesOf(
  { isAnonymous }: Pick<HttpCaller, "isAnonymous">,
  { requestBytes }: Pick<ServerLimits, "requestBytes">,
): number {
  return isAnonymous ? Math.min(requestBytes, maxAnonymousBytes) : requestBytes;
}
