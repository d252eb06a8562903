import { describe, expect, test } from "vitest";
import type { ServeConfig } from "../../../../src/serve/config.ts";
import {
  accessPolicies,
  capabilityTypes,
  registryPage,
  skillDescriptor,
  skillIndex,
} from "../../../../src/wire/skill-sharing.ts";
import { callerConfig } from "../../caller-config.ts";
import { action, instruction, openServed } from "../../open-served.ts";

/** For each access and each type one skill, named after both. */
const all = accessPolicies.flatMap((access) =>
  capabilityTypes.map((type) => ({ access, type, slug: `${access}-${type}` })),
);

const skills = Object.assign(
  {},
  ...all.map(({ access, type, slug }) => (type === "knowledge" ? instruction(slug) : action(`${access}.${type}`))),
) as Record<string, string>;

const config: Partial<ServeConfig> = {
  provider: { name: "Example Corp", url: "https://example.com", domain: "com.example" },
  access: { default: "private", public: ["public*"], restricted: ["restricted*"], private: [] },
  capabilityTypes: { plugin: ["*.plugin"], task: ["*.task"] },
  callers: [callerConfig("reader"), callerConfig("narrow", { skills: ["public*", "*-knowledge"] })],
};

/** Which skills each caller discovers and invokes, by the table of the seed's section 5.5 and its own configuration. */
const callers = [
  {
    as: undefined,
    discovers: (slug: string) => !slug.startsWith("private"),
    invokes: (slug: string) => slug.startsWith("public"),
  },
  { as: "reader", discovers: () => true, invokes: () => true },
  {
    as: "narrow",
    discovers: (slug: string) => slug.startsWith("public") || slug.endsWith("-knowledge"),
    invokes: (slug: string) => slug.startsWith("public") || slug.endsWith("-knowledge"),
  },
] as const;

const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };

describe.each(callers)("discovery as $as", ({ as, discovers, invokes }) => {
  const sent = as === undefined ? {} : { as };

  test.each([undefined, ...capabilityTypes, "unknown", ""])(
    "the indexes of type %s list what is visible",
    async (type) => {
      const served = await openServed({ skills, config });
      const query = type === undefined ? "" : `?type=${type}`;
      const expected = all.filter((skill) => discovers(skill.slug) && (type === undefined || skill.type === type));
      const byId = expected
        .map(({ access, type, slug }) => [`com.example.${slug}-v${type === "knowledge" ? 0 : 2}`, access, type])
        .sort();
      const index = await served.get(`/.well-known/skill-sharing${query}`, sent);
      const { skills: entries, provider, protocol } = skillIndex.parse(index.body);
      expect(entries.map(({ id, access, capability_type }) => [id, access, capability_type])).toEqual(byId);
      expect({ provider, protocol }).toEqual({
        provider: { name: "Example Corp", url: "https://example.com" },
        protocol: { version: "1.0.0" },
      });
      const registry = await served.get(`/skills${query}`, sent);
      expect(registryPage.parse(registry.body)).toEqual({ protocol, skills: entries });
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      for (const { descriptor_url: url } of entries) expect(url).toMatch(`${served.url}/skills/`);
    },
  );

  test.each(all.filter(({ type }) => type === "api"))(
    "$slug is described and invoked as its access says",
    async ({ slug, access, type }) => {
      const served = await openServed({ skills, config });
      const path = `/skills/${slug}/descriptor.json`;
      const described = await served.get(path, sent);
      const started = await served.get(`/skills/${slug}/executions`, { ...post, ...sent });
      if (!discovers(slug)) {
        const absent = await served.get("/skills/absent/descriptor.json", sent);
        const same = absent.text.replaceAll("absent", slug);
        expect([described.status, described.text]).toEqual([404, same]);
        expect([started.status, started.text]).toEqual([404, same]);
        expect([...described.headers.keys()].sort()).toEqual([...absent.headers.keys()].sort());
        expect(described.headers.get("cache-control")).toBe("no-store");
        return;
      }
      expect(skillDescriptor.parse(described.body)).toMatchObject({
        id: `com.example.${slug}-v2`,
        version: "2.1.0",
        capability_type: type,
        access,
        auth: { type: access === "public" ? "none" : "api_key" },
        endpoint: { url: `${served.url}/skills/${slug}/executions`, method: "POST" },
      });
      if (invokes(slug)) {
        expect(started.status).toBe(202);
        return;
      }
      expect([started.status, started.body]).toEqual([
        401,
        { error: { code: "AUTH_REQUIRED", message: expect.any(String) as string } },
      ]);
      expect(started.headers.get("www-authenticate")).toBe("Bearer");
    },
  );
});

describe("discovery", () => {
  test.each([
    "/.well-known/skill-sharing",
    "/skills",
    "/skills/public-api/descriptor.json",
    "/skills/absent/descriptor.json",
  ])("%s refuses invalid credentials", async (path) => {
    const served = await openServed({ skills, config });
    const refused = await served.get(path, { as: "nobody" });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(refused.body).toMatchObject({ error: { code: "AUTH_REQUIRED" } });
  });

  test("a skill that is not invoked says so", async () => {
    const served = await openServed({ skills, config });
    const refused = await served.get("/skills/public-knowledge/executions", post);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { error: { code: "VALIDATION_ERROR", details: { reason: "NOT_EXECUTABLE" } } },
    ]);
  });
});
