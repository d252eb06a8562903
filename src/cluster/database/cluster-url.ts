import type { ConnectionOptions } from "node:tls";
import { readFileSync } from "node:fs";
import { isLoopbackAddress } from "../../base/network/address.ts";
import type { SkillsError } from "../../base/errors.ts";
import { unusableCluster } from "./database-error.ts";

/** The address and credentials of a database. Without a password, the driver reads `PGPASSWORD`, `PGPASSFILE` or `~/.pgpass`. */
export interface ClusterUrl {
  /** The name or address of a machine, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly ssl: ConnectionOptions | false;
  /** The URL as the user sees it, without password. */
  readonly label: string;
}

const known = new Set(["host", "sslmode", "sslrootcert", "sslcert", "sslkey"]);

/**
 * Parses `postgres://USER@HOST:PORT/DATABASE`. Connections to other machines are encrypted and verified, unless the URL has
 * `sslmode=disable`. Throws INVALID_OPTIONS with a message that never repeats a possible password.
 */
export function parseClusterUrl(text: string): ClusterUrl {
  const refuse = (reason: string): SkillsError => unusableCluster(`cluster: ${reason}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw refuse("needs the URL of a PostgreSQL database, such as postgres://acp@db.example.com/skills");
  for (const name of url.searchParams.keys())
    if (!known.has(name)) throw refuse(`${name} is unknown; known are ${[...known].join(", ")}`);
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const host = parameter("host") ?? decoded(url.hostname.replace(/^\[|\]$/g, ""));
  if (host === "")
    throw refuse("names no host; a Unix socket is given as postgres:///DATABASE?host=/var/run/postgresql");
  const isHere = host.startsWith("/") || host === "localhost" || isLoopbackAddress(host);
  const mode = parameter("sslmode") ?? (isHere ? "disable" : "verify-full");
  if (mode !== "disable" && mode !== "verify-full")
    throw refuse(
      `sslmode=${mode} does not verify who answers; use verify-full, with sslrootcert=FILE for a certificate authority of your own, or disable`,
    );
  const file = (name: string): Buffer | undefined => {
    const path = parameter(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      throw refuse(`${name}: ${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
  };
  const [ca, cert, key] = [file("sslrootcert"), file("sslcert"), file("sslkey")];
  const user = decoded(url.username) || undefined;
  const database = decoded(url.pathname.slice(1)) || undefined;
  const port = url.port === "" ? 5432 : Number(url.port);
  return {
    host,
    port,
    user,
    password: decoded(url.password) || undefined,
    database,
    ssl:
      mode === "disable"
        ? false
        : { rejectUnauthorized: true, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    label: `postgres://${user === undefined ? "" : `${user}@`}${host.startsWith("/") ? "" : `${host}:${port}`}/${database ?? ""}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
