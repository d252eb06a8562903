import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { newToken, toTokenDigest } from "../../src/wire/http.ts";
import { type OpenServer, openServer } from "../serve/open-server.ts";
import { install, modernNode } from "./install.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

const skillOf = (name: string, rest = ""): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n${rest}`;
const skills: Files = {
  "plain/SKILL.md": skillOf("plain"),
  "tools/SKILL.md": skillOf("tools"),
  "tools/scripts/run.sh": "#!/bin/sh\necho hello\n",
  "tools/assets/a & ü.bin": new Uint8Array([0, 255, 1, 13, 10]),
  [`tools/references/${"deep/".repeat(28)}notes.md`]: "Far below.\n",
  "secret/SKILL.md": skillOf("secret"),
  "secret/references/key.md": "Not for everybody.\n",
};
const access = { default: "private", public: ["plain", "tools"], restricted: [], private: [] } as const;
const only = (...names: string[]): Files =>
  Object.fromEntries(Object.entries(skills).filter(([path]) => names.includes(path.split("/")[0]!)));

let server: OpenServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

describe.each(["skills1_5", "skills1_7"] as const)("the skills package (%s)", (version) => {
  test("installs the public skills, byte for byte", async () => {
    server = await openServer({ skills, access });
    expect(await installFrom(`${server.url}/`)).toEqual(bytesOf(only("plain", "tools")));
  });

  test("installs a share by its path, with and without a slash at the end, and its own skills only", async () => {
    const token = newToken();
    const shares = [{ name: "team", tokenDigest: toTokenDigest(token), skills: ["secret", "tools"] }];
    server = await openServer({ skills, access, shares });
    for (const end of ["/", ""])
      expect(await installFrom(`${server.url}/s/${token}${end}`)).toEqual(bytesOf(only("secret", "tools")));
  });

  test("installs 1,500 skills that it requests all at once, byte for byte", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, at): [string, string][] => {
        const name = `skill-${at}`;
        const script: [string, string] = [`${name}/scripts/run.py`, `print(${at})\n`.repeat(100)];
        return [
          [`${name}/SKILL.md`, skillOf(name, "It does it.\n".repeat(at % 300))],
          ...(at % 2 === 0 ? [script] : []),
        ];
      }).flat(),
    );
    server = await openServer({ skills: many, access: { ...access, default: "public" } });
    const startedAt = performance.now();
    const installed = await installFrom(`${server.url}/`);
    const names = new Set(Object.keys(installed).map((path) => path.split("/")[0]));
    expect(names.size).toBe(1_500);
    expect(installed).toEqual(bytesOf(many));
    console.log(`${version}: 1,500 of 1,500 skills, byte-equal, in ${Math.round(performance.now() - startedAt)} ms`);
  });

  /** Runs `skills add URL` in a new project; the installed files. It says nothing about skills that it drops. */
  async function installFrom(url: string): Promise<Files> {
    const cli = join(await install(version), "skills/bin/cli.mjs");
    const node = version === "skills1_7" ? await modernNode() : process.execPath;
    const place = mkdtempSync(join(tmpdir(), "acp-skills-cli-"));
    onTestFinished(() => rmSync(place, { recursive: true, force: true, maxRetries: 10 }));
    const child = spawn(node, [cli, "add", url, "-y", "--agent", "universal"], {
      cwd: place,
      env: { PATH: process.env["PATH"], HOME: place, LC_ALL: "C.UTF-8", DISABLE_TELEMETRY: "1", NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    const installed = join(place, ".agents/skills");
    expect(code === 0 && existsSync(installed), output).toBe(true);
    return readFiles(installed);
  }
});

function readFiles(directory: string): Files {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(directory.length + 1).replaceAll("\\", "/"), new Uint8Array(readFileSync(file))];
    }),
  );
}

function bytesOf(files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path, new Uint8Array(Buffer.from(content))]),
  );
}
