import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { onTestFinished, vi } from "vitest";
import { type HostileServer, answers, openHostileServer } from "../../../hostile-server.ts";
import { tarEntry, tarOf } from "../../../archive/tar-blocks.ts";

/** The tarball of a package with these files; one below `scripts` is executable. */
export function packageOf(manifest: object, files: Readonly<Record<string, string>>): Buffer {
  const all = { "package.json": JSON.stringify(manifest), ...files };
  const entries = Object.entries(all).map(([name, content]) =>
    tarEntry({ name: `package/${name}`, content, mode: name.includes("scripts/") ? "0000755\0" : "0000644\0" }),
  );
  return gzipSync(tarOf(...entries));
}

export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

/** A skill of a package, as it is published below `directory`. */
export function skillIn(directory: string, name: string): Record<string, string> {
  return {
    [`${directory}/SKILL.md`]: `---\nname: ${name}\ndescription: Does ${name}.\n---\n`,
    [`${directory}/scripts/run.sh`]: `#!/bin/sh\necho ${name}\n`,
  };
}

export const alphaAndBeta = { ...skillIn("skills/alpha", "alpha"), ...skillIn("skills/beta", "beta") };

export interface FakeRegistry extends HostileServer {
  /** Publishes a version of a package; `change` is what its registry says otherwise of it. */
  publish(name: string, version: string, bytes: Uint8Array, change?: (manifest: Record<string, unknown>) => void): void;
  /** Recommends a version under a tag; the last one that was published is `latest`. */
  tag(name: string, tag: string, version: string): void;
  /** What it says of a package besides its versions and tags. */
  say(name: string, more: object): void;
}

/** A registry on loopback that is this process's registry until the test ends. */
export async function openFakeRegistry(npmrc = ""): Promise<FakeRegistry> {
  const server = await openHostileServer();
  const packuments = new Map<string, { name: string; versions: Record<string, unknown>; "dist-tags": Record<string, string> }>(); // prettier-ignore
  usePersonsNpmrc(`registry=${server.origin}/\n${npmrc.replaceAll("HOST", `127.0.0.1:${server.port}`)}`);
  const packumentOf = (name: string) => {
    const known = packuments.get(name) ?? { name, versions: {}, "dist-tags": {} };
    packuments.set(name, known);
    server.on(`/${name.replace("/", "%2f")}`, (request, response) => {
      const body = JSON.stringify(known);
      const etag = `"${createHash("sha256").update(body).digest("hex")}"`;
      if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.writeHead(200, { "content-type": "application/json", etag }).end(body);
    });
    return known;
  };
  return {
    ...server,
    publish(name, version, bytes, change = () => undefined) {
      const file = `/${name}/-/${name.replace(/^.*\//, "")}-${version}.tgz`;
      const tarball = server.on(file, answers.bytes(bytes));
      const manifest = { name, version, dist: { tarball, integrity: integrityOf(bytes) } };
      change(manifest);
      const known = packumentOf(name);
      known.versions[version] = manifest;
      known["dist-tags"]["latest"] = version;
    },
    say(name, more) {
      Object.assign(packumentOf(name), more);
    },
    tag(name, tag, version) {
      packumentOf(name)["dist-tags"][tag] = version;
    },
  };
}

/** Makes this the settings of the person for npm, until the test ends. */
export function usePersonsNpmrc(text: string): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-npmrc-")));
  const file = path.join(directory, ".npmrc");
  writeFileSync(file, text, { mode: 0o600 });
  for (const name of Object.keys(process.env).filter((one) => /^npm_config_/i.test(one))) vi.stubEnv(name, undefined);
  vi.stubEnv("NPM_CONFIG_USERCONFIG", file);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });
  return file;
}
