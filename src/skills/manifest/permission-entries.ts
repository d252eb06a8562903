const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
/** The last label must not be a number, because such a name is an IPv4 address in a legacy notation. */
const name = `(?!(?:[^:]*\\.)?(?:[0-9]+|0x[0-9a-f]*)(?::|$))${label}(?:\\.${label})*`;
const port = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]";

/**
 * `https://host` or `https://*.host`, optionally with a port from 1 to 65535; for IP addresses also
 * `http://127.0.0.1:8080`.
 */
export const networkEntry = new RegExp(
  `^(?:https://(?:\\*\\.)?${name}|https?://(?:${octet}(?:\\.${octet}){3}|\\[[0-9a-f:]+\\]))(?::(?:${port}))?$`,
);
export const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** The error in an entry of `permissions.network`, and its fix. */
export function explainNetworkEntry(entry: unknown): { readonly what: string; readonly fix: string } {
  const shown = JSON.stringify(entry);
  if (typeof entry === "string" && networkEntry.test(entry.replace(/:[0-9]+$/, ""))) {
    return { what: `${shown} has a port outside 1-65535`, fix: "Use a port from 1 to 65535, or none." };
  }
  return { what: `${shown} is not a valid host`, fix: "Use the form https://host or https://*.host." };
}
