import { randomBytes } from "node:crypto";

/**
 * Ids by which a request is found in the log: that of the client, if it sends a usable one that is not its token, else one of ours,
 * unique in this process and unlikely to be given by another.
 */
export function createRequestIds(
  start = randomBytes(6).toString("hex"),
): (given: string | readonly string[] | undefined, authorization: string | undefined) => string {
  let count = 0;
  return (given, authorization) => {
    if (typeof given === "string" && usable.test(given) && authorization?.includes(given) !== true) return given;
    count += 1;
    return `${start}-${count}`;
  };
}

const usable = /^[\w-]{1,64}$/;
