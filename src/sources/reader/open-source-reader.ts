import { SkillsError } from "../../base/errors.ts";
import type { SkillDescriptor } from "../../wire/skill-sharing.ts";
import { type FetcherOptions, openFetcher } from "../fetch/open-fetcher.ts";
import { openGitSource } from "./git/git-source.ts";
import { toSkillFiles } from "../invoke/to-skill-files.ts";
import { fetchSkillFiles } from "./fetch-skill-files.ts";
import { readDescriptors } from "./read-descriptors.ts";
import { readSource } from "./read-source.ts";
import type { SkillFile, SourceReader } from "../reader.ts";

export interface SourceReaderOptions extends FetcherOptions {
  /** What the frontmatter of a SKILL.md says. */
  readonly describe: (text: string) => {
    readonly name?: string;
    readonly description?: string;
    readonly version?: string;
  };
}

/** Opens all ways to sources: the documents of the web, and git. Connects to nothing before the first reading. Throws INVALID_OPTIONS. */
export function openSourceReader({ describe, ...options }: SourceReaderOptions): SourceReader {
  const fetcher = openFetcher(options);
  const git = openGitSource({ ...options, fetcher, describe });
  const readMarketplace: typeof git.readMarketplace = (...given) => git.readMarketplace(...given);
  const readGit: typeof git.readGit = (...given) => git.readGit(...given);

  return {
    async read(source, before, signal) {
      const index = await readSource(source, { fetcher, signal, git, readMarketplace, describe, ...before });
      if (index === "unchanged") return undefined;
      const { skills, problems, isPartial } = await readDescriptors(index.skills, { fetcher, signal });
      return {
        ...index,
        skills,
        problems: [...index.problems, ...problems],
        ...((isPartial ?? index.isPartial) === true && { isPartial: true }),
      };
    },
    async skillFiles({ name, content }, signal) {
      if (content.type === "api") return invocable(content.descriptor, name);
      return await fetchSkillFiles(content, { fetcher, signal, readGit });
    },
    async close() {
      await git.close();
      await fetcher.close();
    },
  };
}

/** A skill that is invoked, not downloaded: we write its files. */
function invocable(descriptor: SkillDescriptor, name: string): readonly SkillFile[] {
  const files = toSkillFiles(descriptor, name);
  if ("why" in files) throw new SkillsError("SOURCE_INVALID", files.why);
  return files;
}
