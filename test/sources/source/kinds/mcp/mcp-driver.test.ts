import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type SourceLister, openSourceReader } from "../../../../../src/sources/reader.ts";
import { type Source, parseSource } from "../../../../../src/sources/source.ts";
import { binary } from "../../../../cli/run-cli.ts";
import { describeSourceReader } from "../../../../contract/source-reader.ts";
import { openServer } from "../../../../serve/open-server.ts";
import { exampleServer, serveExample } from "./serve-example.ts";

const { signal } = new AbortController();

const alphaAndBeta = Object.fromEntries(
  ["alpha", "beta"].flatMap((name) => [
    [`${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}.\n---\n`],
    [`${name}/scripts/run.sh`, "#!/bin/sh\n"],
  ]),
) as Record<string, string>;

function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-mcp-")));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), content);
    if (file.endsWith(".sh")) chmodSync(path.join(directory, file), 0o755);
  }
  return directory;
}

function sourceOf(...words: readonly string[]): Source {
  return parseSource(`mcp:${[process.execPath, ...words].map((word) => `"${word}"`).join(" ")}`);
}

function readerOf(...typed: readonly Source[]): SourceLister {
  const reader = openSourceReader({ allowPrivate: [], typed: typed.map(({ url }) => url), ownAddresses: () => [] });
  onTestFinished(() => reader.close());
  return reader;
}

describeSourceReader("openSourceReader, of the SDK's example server over stdio", async () => {
  const directory = directoryOf(alphaAndBeta);
  return await Promise.resolve({
    reader: openSourceReader({ allowPrivate: [] }),
    source: sourceOf(exampleServer, directory),
    unreachable: parseSource("mcp:/no/such/program"),
  });
});

test.each(["serve", "reject"])("reads text and bytes as they are, of revisions that a server %s", async (older) => {
  const bytes = new Uint8Array([0, 255, 1, 10, 13]);
  const text = "a – b\r\nc\u{1f600}\n";
  const directory = directoryOf({ ...alphaAndBeta, "alpha/assets/a & b.bin": bytes, "alpha/notes/é.md": text });
  const source = sourceOf(exampleServer, directory, "stdio", older);
  const reader = readerOf(source);
  const index = await reader.read(source, undefined, signal);
  expect(index?.problems).toEqual([]);
  const [alpha] = index?.skills ?? [];
  if (alpha === undefined) throw new Error("There is no alpha.");
  const files = new Map((await reader.skillFiles(alpha, signal)).map((file) => [file.path, Buffer.from(file.bytes)]));
  expect([...files.keys()].sort()).toEqual(["SKILL.md", "assets/a & b.bin", "notes/é.md", "scripts/run.sh"]);
  expect(files.get("assets/a & b.bin")).toEqual(Buffer.from(bytes));
  expect(files.get("notes/é.md")?.toString()).toBe(text);
});

describeSourceReader("openSourceReader, of the SDK's example server over HTTP", async () => {
  const source = parseSource(`mcp:${await serveExample(directoryOf(alphaAndBeta))}`);
  return {
    reader: openSourceReader({ allowPrivate: ["127.0.0.1:1"], typed: [source.url], ownAddresses: () => [] }),
    source,
    unreachable: parseSource("mcp:http://127.0.0.1:1/mcp"),
  };
});

test.each(["serve", "reject"])("reads over HTTP what a server that %s older revisions has", async (older) => {
  const source = parseSource(`mcp:${await serveExample(directoryOf(alphaAndBeta), older)}`);
  expect((await readerOf(source).read(source, undefined, signal))?.skills).toHaveLength(2);
});

test("what our own servers publish comes back byte for byte, over stdio and over HTTP", async () => {
  const files = {
    ...alphaAndBeta,
    "alpha/assets/a & b.bin": new Uint8Array([0, 255, 1, 13, 10]),
    "alpha/references/é.md": "x – y\n",
  };
  const server = await openServer({
    access: { default: "public", public: [], restricted: [], private: [] },
    skills: files,
  });
  onTestFinished(() => server.close());
  for (const source of [
    sourceOf(binary, "mcp", "--no-default-roots", "--skills", server.directory),
    parseSource(`mcp:${server.url}/mcp`),
  ]) {
    const reader = readerOf(source);
    const index = await reader.read(source, undefined, signal);
    expect(index?.skills.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    const [alpha] = index?.skills ?? [];
    if (alpha === undefined) throw new Error("There is no alpha.");
    const found = (await reader.skillFiles(alpha, signal)).map(({ path: file, bytes }) => [`alpha/${file}`, Buffer.from(bytes).toString("latin1")]); // prettier-ignore
    const published = Object.entries(files).filter(([file]) => file.startsWith("alpha/"));
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(published.map(([file, content]) => [file, Buffer.from(content).toString("latin1")])),
    );
  }
});
