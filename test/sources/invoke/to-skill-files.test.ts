import fc from "fast-check";
import { expect, test } from "vitest";
import { secretNameOf, toSkillFiles } from "../../../src/sources/invoke/to-skill-files.ts";
import { permissionsOf } from "../../../src/skills/permissions.ts";
import { parseSkill } from "../../../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../../../src/skills/manifest/read-manifest.ts";
import type { Skill } from "../../../src/skills/skill.ts";
import type { SkillDescriptor } from "../../../src/wire/skill-sharing.ts";

const descriptor: SkillDescriptor = {
  protocol: { version: "1.0.0" },
  id: "com.example.translate-v1",
  name: "Universal Translator",
  version: "2.1.0",
  capability_type: "api",
  description: "High-quality text translation service supporting 100+ languages",
  provider: { name: "Example Corp", url: "https://example.com" },
  endpoint: { url: "https://api.example.com/translate", method: "POST" },
  inputs: {
    text: { type: "string", description: "What to translate", required: true },
    target: { type: "string", enum: ["de", "fr"], default: "de" },
    paper: { type: "blob" },
  },
  output: { text: { type: "string" } },
  auth: { type: "api_key" },
  access: "restricted",
  tags: ["text"],
};

/** The skill that the files are read as, and the rules that they break. */
function read(given: SkillDescriptor, slug = "translate"): { skill: Skill | undefined; rules: readonly string[] } {
  const files = toSkillFiles(given, slug);
  if ("why" in files) throw new Error(files.why);
  const text = (path: string): string => Buffer.from(files.find((file) => file.path === path)?.bytes ?? []).toString();
  const manifest = readManifest(text("skill.toml"), "/s/skill.toml");
  const head = Buffer.from(text("SKILL.md"));
  const place = { directory: "/s", expectedName: slug, file: "/s/SKILL.md", head, whole: true };
  const { skill, findings } = parseSkill(place, manifest);
  return { skill, rules: findings.map(({ code }) => code) };
}

function why(given: Partial<SkillDescriptor>, slug = "translate"): string {
  const files = toSkillFiles({ ...descriptor, ...given }, slug);
  return "why" in files ? files.why : "usable";
}

test("a descriptor becomes an action that may reach its endpoint with a secret of its host", () => {
  const { skill, rules } = read(descriptor);
  expect(rules).toEqual([]);
  expect(skill).toMatchObject({
    name: "translate",
    slug: "translate",
    kind: "action",
    version: "2.1.0",
    description: descriptor.description,
    tags: ["text"],
    manifest: {
      remote: { endpoint: "https://api.example.com/translate", secret: "COM_EXAMPLE_API_API_KEY" },
      inputs: { ...descriptor.inputs, paper: { type: "string" } },
      outputs: descriptor.output,
    },
  });
  expect(permissionsOf(skill!)).toEqual({
    network: ["https://api.example.com"],
    secrets: ["COM_EXAMPLE_API_API_KEY"],
    project: "none",
  });
});

test.each([
  [{ type: "none" }, {}],
  [{ type: "oauth2" }, { secret: "COM_EXAMPLE_API_API_KEY" }],
  [
    { type: "api_key", in: "header", name: "X-Key" },
    { secret: "COM_EXAMPLE_API_API_KEY", header: "x-key" },
  ],
  [{ type: "api_key", name: "Authorization", scheme: "Bearer" }, { secret: "COM_EXAMPLE_API_API_KEY" }],
  [
    { type: "api_key", scheme: "Token" },
    { secret: "COM_EXAMPLE_API_API_KEY", scheme: "Token" },
  ],
] as const)("credentials %j are sent as %j", (auth, expected) => {
  const { endpoint, ...sent } = read({ ...descriptor, auth }).skill?.manifest?.remote ?? { endpoint: "" };
  expect([endpoint, sent]).toEqual(["https://api.example.com/translate", expected]);
});

test.each([
  [{ auth: { type: "custom" } }, "custom"],
  [{ auth: { type: "api_key", in: "query", name: "key" } }, "not sent in a header"],
  [{ auth: { type: "api_key", name: "Host" } }, "not sent in a header"],
  [{ auth: { type: "api_key", scheme: "a b" } }, "scheme"],
  [{ endpoint: { url: "http://example.com/x", method: "POST" } }, "not an https URL"],
  [{ endpoint: { url: "https://me:it@example.com/x", method: "POST" } }, "not an https URL"],
  [{ endpoint: { url: "file:///etc/passwd", method: "POST" } }, "not an https URL"],
  [{ endpoint: { url: "https://example.com/x", method: "GET" } }, "GET"],
  [{ inputs: { text: { type: "string", description: "x".repeat(900), default: "y".repeat(40_000) } } }, "32 KiB"],
] as const)("%j is not usable: %s", (given, reason) => {
  expect(why(given as Partial<SkillDescriptor>)).toContain(reason);
});

test.each([
  ["https://example.com/x", "COM_EXAMPLE_API_KEY"],
  ["https://example.com:8443/x", "COM_EXAMPLE___8443_API_KEY"],
  ["https://my-shop.example/x", "EXAMPLE_MY__SHOP_API_KEY"],
  ["http://127.0.0.1:7331/x", "HOST_127_0_0_1___7331_API_KEY"],
  ["http://[::1]:7331/x", "HOST___1___7331_API_KEY"],
])("the secret for %s is %s", (url, name) => {
  expect(secretNameOf(new URL(url))).toBe(name);
});

test.each([
  ["https://api.openai.example/x", "https://openai-api.example/x"],
  ["https://example.com:8443/x", "https://8443.example.com/x"],
  ["http://127.0.0.1/x", "https://1.0.0.127.host/x"],
  ["http://[::1]:7331/x", "http://[::1:7331]/x"],
  ["https://a--b.example/x", "https://a-b.example/x"],
])("%s and %s have secrets of their own", (one, other) => {
  const [first, second] = [one, other].map((url) => secretNameOf(new URL(url)));
  expect(first).toBeDefined();
  expect(first).not.toBe(second);
});

test.each(["https://a_b.example/x", "https://a-.b.example/x", `https://${"a.".repeat(70)}example/x`])(
  "no secret is named after the host of %s",
  (url) => {
    expect(secretNameOf(new URL(url))).toBeUndefined();
    expect(why({ endpoint: { url, method: "POST" }, auth: { type: "api_key" } })).toContain("its host");
  },
);

test("versions of other schemes become semantic ones", () => {
  const versions = ["v2", "2.1", "1.0.0-rc.1", "01.2.3", "next", "1.2.3.4"].map(
    (version) => read({ ...descriptor, version }).skill?.version,
  );
  expect(versions).toEqual(["2.0.0", "2.1.0", "1.0.0-rc.1", "1.2.3", "0.0.0", "1.2.3"]);
});

const text = fc.string({ unit: "binary", maxLength: 60 });
const argument = fc.record(
  {
    type: fc.constantFrom("string", "integer", "object", "array", "blob", "file"),
    description: text,
    required: fc.boolean(),
    default: fc.jsonValue({ maxDepth: 3 }),
    enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
  },
  { requiredKeys: ["type"] },
);

test("whatever a descriptor says, its files are an action that reaches its own endpoint only, or there are none", () => {
  const any = fc.record({
    ...Object.fromEntries(["id", "name", "version", "description"].map((key) => [key, text])),
    inputs: fc.dictionary(text, argument, { maxKeys: 3 }),
    output: fc.dictionary(text, argument, { maxKeys: 3 }),
    tags: fc.array(text, { maxLength: 3 }),
    url: fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), text),
  });
  fc.assert(
    fc.property(any, ({ url, ...given }) => {
      const one = { ...descriptor, ...given, endpoint: { url, method: "POST" } } as SkillDescriptor;
      const files = toSkillFiles(one, "translate");
      if ("why" in files) return;
      const { skill } = read(one);
      expect(skill?.kind).toBe("action");
      expect(permissionsOf(skill!).network).toEqual([new URL(url).origin]);
    }),
  );
});
