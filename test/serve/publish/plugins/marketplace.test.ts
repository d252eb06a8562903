import { expect, test } from "vitest";
import { toMarketplaceManifest } from "../../../../src/serve/publish/plugins/marketplace.ts";
import type { PublishedSkill } from "../../../../src/serve/publish/publication.ts";

const skill = (slug: string, description: string): Pick<PublishedSkill, "skill"> =>
  ({ skill: { slug, description } }) as PublishedSkill;
const provider = { name: "Example", domain: "com.example" };

test("names each skill a plugin, by its place in the repository", () => {
  expect(toMarketplaceManifest([skill("pdf", "Reads PDF.")], { provider })).toEqual({
    name: "skills-example-com",
    description: "Skills of Example",
    owner: { name: "Example" },
    plugins: [{ name: "pdf", source: "./plugins/pdf", description: "Reads PDF.", category: "skills" }],
  });
});

test("names the repository for those who have only the catalog", () => {
  const repository = "https://skills.example/plugins.git";
  const [plugin] = toMarketplaceManifest([skill("pdf", "Reads PDF.")], { provider, repository }).plugins;
  expect(plugin?.source).toEqual({ source: "git-subdir", url: repository, path: "plugins/pdf" });
});

test("a share's catalog has a name of its own, so that both can be added", () => {
  expect(toMarketplaceManifest([], { provider, share: "team-a" }).name).toBe("skills-example-com-team-a");
  expect(toMarketplaceManifest([], { provider: { name: "x", domain: "uk.co.ünï.x_y" } }).name).toMatch(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
  );
});

test("10,000 skills with the longest descriptions stay below what readers accept", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => skill(`skill-${at}-${"x".repeat(50)}`, "é".repeat(1_024)));
  const repository = `https://skills.example.com/s/${"t".repeat(43)}/plugins.git`;
  const { plugins, ...rest } = toMarketplaceManifest(many, { provider, repository });
  expect(plugins).toHaveLength(10_000);
  expect(Buffer.byteLength(JSON.stringify({ ...rest, plugins }))).toBeLessThanOrEqual(5 * 1024 * 1024);
  expect(toMarketplaceManifest(many.slice(0, 10), { provider }).plugins[0]?.description).toBe("é".repeat(1_024));
});
