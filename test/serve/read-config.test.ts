import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ReadConfig, readConfigFile, readServeConfig } from "../../src/serve/read-config.ts";
import { newToken, toTokenDigest } from "../../src/wire/http.ts";
import { defaultConfig } from "../../src/serve/config.ts";

const file = "/etc/acp-skills/serve.json";
const digest = `sha256:${"0f".repeat(32)}`;
const other = `sha256:${"1e".repeat(32)}`;
const token = newToken();

const read = (value: unknown, env: Record<string, string> = {}): ReadConfig =>
  readServeConfig(file, typeof value === "string" ? value : JSON.stringify(value, null, 2), env);
const said = (value: unknown, env?: Record<string, string>): readonly string[] =>
  read(value, env).problems.map(
    ({ code, line, column, message, fix }) => `${line}:${column} ${code}: ${message}. ${fix}`,
  );

test("an empty file has the defaults", () => {
  expect(read({})).toMatchObject({ config: defaultConfig, skills: [], problems: [] });
});

test("every field is read, and defaults fill in the others", () => {
  const { config, skills, problems } = read(
    {
      $schema: "../schema/acp-skills.serve.json",
      provider: { name: "Example Corp", url: "https://www.example.com/about" },
      url: "https://skills.example.org/all/",
      access: { default: "restricted", public: ["docs.*"] },
      capabilityTypes: { task: ["report.weekly"] },
      callers: [
        { name: "ci", token: digest },
        {
          name: "desk-1",
          token: "env:DESK_TOKEN",
          skills: ["rows.*"],
          tools: ["list_skills"],
          grants: [`rows.clean@${"a".repeat(64)}:network`],
          secrets: ["API_KEY"],
          limits: { requestsPerMinute: 10 },
        },
      ],
      anonymous: { tools: [], limits: { concurrentRequests: 2 } },
      shares: [{ name: "team", token: other, skills: ["docs.*"] }],
      sources: ["example.com", "acme/skills@v1"],
      skills: ["./skills", "/srv/skills"],
      limits: { batch: 5, requestSeconds: 20 },
    },
    { DESK_TOKEN: token },
  );
  expect(problems).toEqual([]);
  expect(skills).toEqual(["/etc/acp-skills/skills", "/srv/skills"]);
  expect(config).toEqual({
    provider: { name: "Example Corp", url: "https://www.example.com/about", domain: "com.example" },
    publicUrl: "https://skills.example.org/all",
    access: { default: "restricted", public: ["docs.*"], restricted: [], private: [] },
    capabilityTypes: { task: ["report.weekly"] },
    callers: [
      {
        name: "ci",
        tokenDigest: Buffer.from("0f".repeat(32), "hex"),
        skills: ["*"],
        tools: undefined,
        grants: [],
        secrets: [],
        limits: { requestsPerMinute: 1_200, concurrentRequests: 64 },
      },
      {
        name: "desk-1",
        tokenDigest: toTokenDigest(token),
        skills: ["rows.*"],
        tools: ["list_skills"],
        grants: [`rows.clean@${"a".repeat(64)}:network`],
        secrets: ["API_KEY"],
        limits: { requestsPerMinute: 10, concurrentRequests: 64 },
      },
    ],
    anonymous: { tools: [], limits: { requestsPerMinute: 300, concurrentRequests: 2 } },
    shares: [{ name: "team", tokenDigest: Buffer.from("1e".repeat(32), "hex"), skills: ["docs.*"] }],
    sources: ["example.com", "acme/skills@v1"],
    limits: { ...defaultConfig.limits, batch: 5, requestSeconds: 20 },
  });
});

test("the example of the documentation is valid", () => {
  const readme = readFileSync(new URL("../../src/serve/README.md", import.meta.url), "utf8");
  const [, example = ""] = /```json\n([^]*?)```/.exec(readme) ?? [];
  expect(read(example.replace("sha256:…", digest), { CI_TOKEN: token }).problems).toEqual([]);
  expect(JSON.parse(example)).toHaveProperty("callers");
});

test.each([
  [{ url: "https://skills.example.org" }, "org.example.skills"],
  [{ provider: { name: "E", url: "https://example.com." } }, "com.example"],
  [{ provider: { name: "E" }, url: "http://127.0.0.1:7331" }, "local"],
  [{ provider: { name: "E" }, url: "http://build-host" }, "local"],
  [{ provider: { name: "E", url: "https://[::1]/" } }, "local"],
])("ids of %j start with %s", (value, domain) => {
  expect(read(value).config?.provider.domain).toBe(domain);
});

test.each([
  ['{ "acess": {} }', '1:3 config-key-unknown: unknown key "acess". Did you mean "access"?'],
  ['{ "access": { "public": [], "publik": [] } }', '1:29 config-key-unknown: unknown key "publik" in access. Did you mean "public"?'], // prettier-ignore
  [`{ "callers": [{ "name": "a", "token": "${digest}", "limit": {} }] }`, '1:114 config-key-unknown: unknown key "limit" in callers[0]. Did you mean "limits"?'], // prettier-ignore
  ['{ "zzzzzzzz": 1 }', '1:3 config-key-unknown: unknown key "zzzzzzzz". Use one of provider, url, access, capabilityTypes, callers, anonymous, shares, sources, skills, limits.'], // prettier-ignore
  ['{ "skills": [], "skills": [] }', '1:17 config-key-duplicate: the key "skills" occurs twice. Keep one of them.'],
  ['{\n  "access": { "default": "publc" }\n}', '2:26 config-value-invalid: invalid value of access.default. Did you mean "public"?'], // prettier-ignore
  ['{ "access": { "default": 5 } }', '1:26 config-value-invalid: invalid value of access.default. Write "public" or "restricted" or "private".'], // prettier-ignore
  ['{ "access": [] }', '1:13 config-value-invalid: invalid value of access. Write an object, { "key": value }.'],
  ['{ "skills": "./skills" }', "1:13 config-value-invalid: invalid value of skills. Write a list, [ … ]."],
  ['{ "access": { "public": ["Rows"] } }', "1:26 config-value-invalid: invalid value of access.public[0]. Write a name of a skill such as rows.clean or rows.*."], // prettier-ignore
  ['{ "access": { "public": ["a*b*c*d*e*f"] } }', "1:26 config-value-invalid: invalid value of access.public[0]. Write a pattern with at most 4 wildcards."], // prettier-ignore
  ['{ "limits": { "batch": 21 } }', "1:24 config-value-invalid: invalid value of limits.batch. Write at most 20."], // prettier-ignore
  ['{ "limits": { "batch": 0 } }', "1:24 config-value-invalid: invalid value of limits.batch. Write 1 or more."], // prettier-ignore
  ['{ "limits": { "batch": 1.5 } }', "1:24 config-value-invalid: invalid value of limits.batch. Write a whole number."],
  ['{ "limits": { "headerSeconds": 50, "requestSeconds": 20 } }', "1:32 config-value-invalid: headerSeconds is longer than requestSeconds. Make it at most as long."], // prettier-ignore
  ['{ "provider": {} }', '1:15 config-key-missing: provider.name is missing. Add "name": a text in quotes.'],
  [
    '{ "provider": { "name": "" } }',
    "1:25 config-value-invalid: invalid value of provider.name. Write 1 or more characters.",
  ],
  ['{ "url": "ftp://example.com" }', "1:10 config-value-invalid: invalid value of url. Write an http or https URL such as https://skills.example, without user, query and fragment."], // prettier-ignore
  ['{ "anonymous": { "tools": ["list_skill"] } }', expect.stringMatching(/^1:28 config-value-invalid: invalid value of anonymous\.tools\[0\]\. Did you mean "list_skills"\?$/)], // prettier-ignore
  ['{ "sources": ["rows"] }', "1:15 config-value-invalid: not a source: it has neither a dot nor a slash, nor a prefix. Write a domain, a URL, OWNER/REPO of GitHub, git:URL, registry:URL, npm:PACKAGE or mcp:URL, for example example.com."], // prettier-ignore
  [`{ "callers": [{ "name": "a", "token": "${digest}", "grants": ["rows.clean"] }] }`, "1:125 config-value-invalid: invalid value of callers[0].grants[0]. Write NAME@DIGEST or NAME@DIGEST:PERMISSION,… with the digest that acp-skills show prints."], // prettier-ignore
  [`{ "callers": [{ "name": "a", "token": "${digest}" }, { "name": "a", "token": "${other}" }] }`, "1:126 config-value-invalid: the name a is used twice, or reserved. Use another name."], // prettier-ignore
  [`{ "callers": [{ "name": "anonymous", "token": "${digest}" }] }`, "1:25 config-value-invalid: the name anonymous is used twice, or reserved. Use another name."], // prettier-ignore
  [`{ "callers": [{ "name": "a", "token": "${digest}" }], "shares": [{ "name": "b", "token": "${digest}" }] }`, "1:152 config-token-invalid: the token of share b is also that of caller a. Give each a token of its own."], // prettier-ignore
  [
    '{ "callers": [{ "name": "a" }] }',
    '1:15 config-key-missing: callers[0].token is missing. Add "token": a text in quotes.',
  ],
  [
    "{",
    "1:2 config-syntax: expected a key in quotes, got the end of the file. Write JSON: keys and texts in double quotes, commas only between items, no comments.",
  ],
  ["[]", '1:1 config-value-invalid: invalid value of the file. Write an object, { "key": value }.'],
])("%s is refused at its place", (text, problem) => {
  expect(said(text)).toEqual([problem]);
  expect(read(text).config).toBeUndefined();
});

test("a token in the file itself is refused, and never shown", () => {
  const text = `{\n  "callers": [{ "name": "a", "token": "${token}" }],\n  "tokne": "${token}", "x": "${token}",\n  "shares": [{ "name": "b", "token": "hunter2" }]\n}`;
  const { problems, sourceLine } = read(text);
  expect(problems.map(({ message }) => message)).toContain(
    "neither the digest of a token nor env:NAME; a token in plain text is not accepted",
  );
  expect(problems[0]?.fix).toContain("acp-skills serve --new-token");
  const shown = [1, 2, 3, 4, 5, 6].map((line) => sourceLine(line) ?? "").join("\n");
  expect(shown + JSON.stringify(problems)).not.toContain(token);
  expect(shown).not.toContain("hunter2");
  expect(shown).toContain(`"token": "${"*".repeat(token.length)}" }],`);
  expect(read(`{ "callers": [{ "token": "${digest}" }], "tools": ["load_skills_protocol_guide"] }`).sourceLine(1)).toContain(digest); // prettier-ignore
  expect(read('["load_skills_protocol_guide", "https://skills.example.com/about"]').sourceLine(1)).not.toContain("*");
});

test("tokens of the environment are hashed; missing and weak ones are refused without being shown", () => {
  const of = (name: string): object => ({ callers: [{ name: "a", token: `env:${name}` }] });
  expect(read(of("A"), { A: token }).config?.callers[0]?.tokenDigest).toEqual(toTokenDigest(token));
  expect(said(of("A"))).toEqual([expect.stringContaining("the environment variable A is not set. Set it to a token. Use the one that acp-skills serve --new-token prints.")]); // prettier-ignore
  expect(said(of("A"), { A: "hunter2" })).toEqual([expect.stringMatching(/config-token-invalid: the token in A has at most 36 bits of randomness; it needs 128/)]); // prettier-ignore
  expect(JSON.stringify(read(of("A"), { A: "hunter2" }))).not.toContain("hunter2");
  const share = { shares: [{ name: "a", token: "env:A" }] };
  expect(said(share, { A: `${token}/` })).toEqual([expect.stringContaining("has characters other than letters, digits, _ and -")]); // prettier-ignore
});

test("all problems are reported at once, up to a limit", () => {
  const callers = Array.from({ length: 60 }, () => ({ name: "A", token: "x" }));
  expect(said({ acess: 1, limits: { batch: 0 } })).toHaveLength(2);
  expect(said({ callers })).toHaveLength(50);
});

test("no text breaks the reader", () => {
  const keys = fc.constantFrom("provider", "url", "access", "callers", "shares", "sources", "limits", "token", "name");
  const value = fc.oneof(fc.json(), fc.string(), fc.dictionary(keys, fc.oneof(fc.jsonValue(), fc.array(fc.dictionary(keys, fc.jsonValue())))).map((object) => JSON.stringify(object))); // prettier-ignore
  fc.assert(
    fc.property(value, (text) => {
      const { config, problems } = read(text);
      expect(config === undefined).toBe(problems.length > 0);
      const lines = text.split(/\r\n?|\n/).length;
      for (const { line, message, fix } of problems) {
        expect(line).toBeLessThanOrEqual(lines);
        expect(message).not.toMatch(/\.$/);
        expect(fix).toMatch(/[.?]$/);
      }
    }),
    { numRuns: 100 },
  );
});

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-config-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("a file is read once, through a link of the user's own", () => {
  const place = path.join(directory, "serve.json");
  writeFileSync(place, '\uFEFF{ "skills": ["x"] }');
  symlinkSync(place, path.join(directory, "link.json"));
  expect(readConfigFile(path.join(directory, "link.json"), {})).toMatchObject({ problems: [], skills: [path.join(directory, "x")] }); // prettier-ignore
});

test.skipIf(process.platform === "win32").each([
  ["serve.json", 0o666, "others may write to"],
  ["missing.json", undefined, "there is no such file"],
])("%s with mode %o is refused", (name, mode, why) => {
  const place = path.join(directory, name);
  if (mode !== undefined) {
    writeFileSync(place, "{}");
    chmodSync(place, mode);
  }
  const { config, problems, sourceLine } = readConfigFile(place, {});
  expect(config).toBeUndefined();
  expect(problems).toMatchObject([{ code: "config-unreadable", message: expect.stringContaining(why) as string }]);
  expect(sourceLine(1)).toBeUndefined();
});
