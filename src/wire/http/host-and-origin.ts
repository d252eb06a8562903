import type { HttpRefusal } from "./refusal.ts";

/**
 * Why a request is refused whose Host, or Origin if present, is not ours: against DNS rebinding. `hosts` are host and
 * port in lower case; `origins` are further origins of the same server, such as `https://skills.example`.
 */
export function checkHostAndOrigin(
  { host, origin }: { readonly host: string | undefined; readonly origin: string | undefined },
  { hosts, origins = [] }: { readonly hosts: readonly string[]; readonly origins?: readonly string[] },
): HttpRefusal | undefined {
  if (host === undefined || !hosts.includes(host.toLowerCase()))
    return { status: 421, code: "INVALID_REQUEST", message: "Host not allowed." };
  if (origin === undefined) return undefined;
  const given = origin.toLowerCase();
  if (hosts.some((own) => given === `http://${own}`) || origins.includes(given)) return undefined;
  return { status: 403, code: "PERMISSION_DENIED", message: "Origin not allowed." };
}
