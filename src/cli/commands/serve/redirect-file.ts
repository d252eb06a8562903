import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { makeOwnDirectories } from "../../../base/paths/directories.ts";

/** A file that only this user can read, and that leads a browser to an address with a secret. */
export interface RedirectFile {
  readonly url: string;
  /** Never throws. */
  readonly remove: () => void;
}

/**
 * Command lines are shown to every user of a machine: a browser is given this file instead of the address. `address` needs no escaping in
 * HTML. Throws where the file cannot be written.
 */
export function writeRedirectFile(dataDirectory: string, address: string): RedirectFile {
  const directory = path.join(dataDirectory, "browse");
  makeOwnDirectories(directory, 0o700);
  const file = path.join(directory, `open-${process.pid}.html`);
  const remove = (): void => rmSync(file, { force: true });
  remove();
  const html = `<!doctype html><title>acp-skills</title><meta http-equiv="refresh" content="0; url=${address}">\n`;
  writeFileSync(file, html, { mode: 0o600, flag: "wx" });
  return { url: pathToFileURL(file).href, remove };
}
