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
  const manifest = toMarketplaceManifest([skill("pdf", "Reads PDF.")], { provider, repository });
  const source = { source: "git-subdir", url: repository, path: "plugins/pdf" };
  expect(manifest).toMatchObject({ plugins: [{ source }] });
});

test("a share's catalog has a name of its own, so that both can be added", () => {
  const shared = toMarketplaceManifest([], { provider, share: "team-a" });
  expect(shared).toMatchObject({ name: "skills-example-com-team-a" });
  const odd = toMarketplaceManifest([], { provider: { name: "x", domain: "uk.co.ünï.x_y" } });
  expect(odd).toMatchObject({ name: expect.stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/) as string });
});

test("10,000 skills with the longest descriptions stay below what readers accept", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => skill(`skill-${at}-${"x".repeat(50)}`, "é".repeat(1_024)));
  const repository = `https://skills.example.com/s/${"t".repeat(43)}/plugins.git`;
  const manifest = toMarketplaceManifest(many, { provider, repository });
  expect(manifest).toHaveProperty("plugins.length", 10_000);
  expect(Buffer.byteLength(JSON.stringify(manifest))).toBeLessThanOrEqual(5 * 1024 * 1024);
  const few = toMarketplaceManifest(many.slice(0, 10), { provider });
  expect(few).toHaveProperty("plugins.0.description", "é".repeat(1_024));
});
