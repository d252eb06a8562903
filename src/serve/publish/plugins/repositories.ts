import { LimitedMap } from "../../../base/limited-map.ts";
import { type Steps, runInSlices } from "../../../base/promises.ts";
import type { ServeConfig } from "../../config.ts";
import type { Audience } from "../audience.ts";
import { type PublishingApp, createMadeOfSkills } from "../made-of-skills.ts";
import type { Publication, PublishedSkill } from "../publication.ts";
import type { NotPublished } from "../read-contents.ts";
import { type GitObject, type GitPack, type GitTree, toCommit, toGitObject, toGitTree, toPack } from "./git-objects.ts";
import { pluginPath, toMarketplaceManifest, toPluginManifest } from "./marketplace.ts";
import type { SkillFile } from "../../../sources/reader.ts";

/** A repository of one commit: the skills of an audience as plugins, and a catalog of them. */
interface Repository {
  readonly commit: string;
  readonly pack: GitPack;
}

/** The repositories of published skills. They are made only when requested, and again only after a change. */
export interface PublishedRepositories {
  /** Returns the skills in the repository of an audience. */
  skillsFor(publication: Publication, audience: Audience): Promise<readonly PublishedSkill[]>;
  current(publication: Publication, audience: Audience): Promise<Repository>;
  /** Returns the current repository, or the one before it for `commitGraceMs`: a client requests the commit that it was shown. */
  withCommit(publication: Publication, audience: Audience, commit: string): Promise<Repository | undefined>;
}

/** The maximum size of all packed objects, in bytes. The objects are in memory. Skills that do not fit are left out. */
const maxBytes = 256 * 1024 * 1024;
/** The maximum number of cached views. */
const maxViews = 16;
/** How long a client may take to request the commit that it was shown. */
export const commitGraceMs = 10 * 60 * 1_000;

interface CachedView {
  readonly trees: ReadonlyMap<string, GitTree>;
  readonly made: Promise<Repository>;
  readonly before?: { readonly view: Pick<CachedView, "trees" | "made">; readonly replacedAt: number };
}

export function createPublishedRepositories(
  app: PublishingApp,
  { provider }: Pick<ServeConfig, "provider">,
): PublishedRepositories {
  const { clock } = app;
  /** The bytes of each plugin, by slug. */
  const sizes = new Map<string, number>();
  let total = 0;
  const made = createMadeOfSkills<GitTree>(app, "plugin", toTree);
  const views = new LimitedMap<string, CachedView>(maxViews);

  function* toTree(files: readonly SkillFile[], published: PublishedSkill): Steps<GitTree | NotPublished> {
    const tree = yield* toPluginTree(files, published);
    const { slug } = published.skill;
    drop(slug);
    if (total + tree.size > maxBytes)
      return { why: `does not fit: all plugins together have at most ${maxBytes / 1024 / 1024} MiB` };
    total += tree.size;
    sizes.set(slug, tree.size);
    return tree;
  }

  function drop(slug: string): void {
    total -= sizes.get(slug) ?? 0;
    sizes.delete(slug);
  }

  async function treesOf(publication: Publication, audience: Audience): Promise<ReadonlyMap<string, GitTree>> {
    for (const slug of sizes.keys()) if (!publication.bySlug.has(slug)) drop(slug);
    return await made.ofAll(publication, audience);
  }

  const skillsOf = (trees: ReadonlyMap<string, GitTree>, { bySlug }: Publication): readonly PublishedSkill[] =>
    [...trees.keys()].flatMap((slug) => bySlug.get(slug) ?? []);

  function* make(
    trees: ReadonlyMap<string, GitTree>,
    publication: Publication,
    { share }: Audience,
  ): Steps<Repository> {
    const catalog = JSON.stringify(
      toMarketplaceManifest(skillsOf(trees, publication), { provider, share }),
      undefined,
      2,
    );
    const file = { path: ".claude-plugin/marketplace.json", bytes: Buffer.from(`${catalog}\n`), executable: false };
    const plugins = [...trees].map(([slug, { id }]) => ({ path: pluginPath(slug), id }));
    const root = yield* toGitTree([file], plugins);
    const commit = yield* toGitObject("commit", toCommit(root.id, "Skills"));
    // Skills share files, such as licenses; a pack contains each once.
    const objects = new Map<string, GitObject>([[commit.id, commit]]);
    for (const tree of [root, ...trees.values()]) {
      for (const object of tree.objects) objects.set(object.id, object);
      yield;
    }
    return { commit: commit.id, pack: yield* toPack([...objects.values()]) };
  }

  async function viewOf(publication: Publication, audience: Audience): Promise<CachedView> {
    const { view } = audience;
    const trees = await treesOf(publication, audience);
    const known = views.get(view);
    if (known?.trees === trees) return known;
    const created: CachedView = {
      trees,
      made: runInSlices(make(trees, publication, audience)),
      ...(known && { before: { view: { trees: known.trees, made: known.made }, replacedAt: clock.now() } }),
    };
    created.made.catch(() => views.delete(view));
    views.delete(view);
    views.set(view, created);
    return created;
  }

  return {
    skillsFor: async (publication, audience) => skillsOf(await treesOf(publication, audience), publication),
    current: async (publication, audience) => await (await viewOf(publication, audience)).made,
    async withCommit(publication, audience, commit) {
      const { made: current, before } = await viewOf(publication, audience);
      const repository = await current;
      if (repository.commit === commit) return repository;
      if (before === undefined || clock.now() - before.replacedAt >= commitGraceMs) return undefined;
      const { view } = before;
      const older = await view.made;
      if (older.commit !== commit) return undefined;
      // An older repository is not sent if one of its skills was withdrawn.
      const isAllowed = (slug: string): boolean => {
        const published = publication.bySlug.get(slug);
        return published !== undefined && audience.mayHave(published);
      };
      return [...view.trees.keys()].every(isAllowed) ? older : undefined;
    },
  };
}

/** Creates the plugin of a skill: its manifest, and `skills/<slug>/` with the files. */
function* toPluginTree(files: readonly SkillFile[], { skill }: PublishedSkill): Steps<GitTree> {
  const manifest = Buffer.from(`${JSON.stringify(toPluginManifest(skill), undefined, 2)}\n`);
  const below = files.map((file) => ({ ...file, path: `skills/${skill.slug}/${file.path}` }));
  return yield* toGitTree([{ path: "plugin.json", bytes: manifest, executable: false }, ...below]);
}
