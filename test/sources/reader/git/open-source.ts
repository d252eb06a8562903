import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openFetcher } from "../../../../src/sources/fetch.ts";
import { type GitSource, type GitSourceOptions, openGitSource } from "../../../../src/sources/reader/git/git-source.ts";
import type { Source } from "../../../../src/sources/source.ts";

export interface OpenedSource extends GitSource {
  /** Names of what lies in its temporary directory. */
  leftovers(): readonly string[];
}

/** A git source that may ask these loopback URLs, as if a person had typed them. */
export function openSource(typed: readonly string[], options: Partial<GitSourceOptions> = {}): OpenedSource {
  const temporaryDirectory = mkdtempSync(path.join(tmpdir(), "acp-skills-test-git-"));
  const network = {
    allowPrivate: [],
    typed,
    ...(options.resolve !== undefined && { resolve: options.resolve }),
  };
  const fetcher = openFetcher(network);
  const git = openGitSource({ fetcher, temporaryDirectory, ...network, ...options });
  return {
    ...git,
    leftovers: () => readdirSync(temporaryDirectory),
    async close() {
      await git.close();
      await fetcher.close();
      rmSync(temporaryDirectory, { recursive: true, force: true });
    },
  };
}

export function gitSourceOf(url: string, rest: Partial<Source> = {}): Source {
  return { kind: "git", url, label: url, ...rest };
}

export function skillMd(name: string, description = `Does ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nBody of ${name}\n`;
}
