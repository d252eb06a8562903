import { expect, test } from "vitest";
import { openServer } from "../../../serve/open-server.ts";
import { hasGit, whyNoGit } from "./git-server.ts";
import { gitSourceOf, openSource } from "./open-source.ts";

const signal = new AbortController().signal;

test.skipIf(!hasGit)(
  `what our own server publishes as plugins is read by its repository and by its document${whyNoGit}`,
  async () => {
    const names = Array.from({ length: 60 }, (_, index) => `skill-${index}`);
    const script = Buffer.from([0x23, 0, 0xff, 0x0d, 0x0a]);
    const files: Record<string, string | Buffer> = Object.fromEntries(
      names.flatMap((name): [string, string | Buffer][] => [
        [`${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}.\n---\n`],
        [`${name}/data.bin`, script],
      ]),
    );
    const server = await openServer({
      skills: files,
      access: { default: "public", public: [], restricted: [], private: [] },
    });
    const source = openSource([server.url]);
    try {
      const url = `${server.url}/plugins.git`;
      const byGit = await source.readIndex(gitSourceOf(url), { signal });
      if (byGit === "unchanged") throw new Error("unchanged");
      expect(byGit.problems).toEqual([]);
      expect(byGit.skills.map(({ name }) => name)).toEqual([...names].sort());
      const [first] = byGit.skills;
      if (first?.content.type !== "git") throw new Error("no content");
      const { repository, commit, directory } = first.content;
      const read = await source.readGit(repository, commit, directory, signal);
      expect(read.map(({ path, bytes }) => [path, Buffer.from(bytes).toString("latin1")])).toEqual([
        ["SKILL.md", files[`${first.name}/SKILL.md`]],
        ["data.bin", script.toString("latin1")],
      ]);
      const at = `${server.url}/marketplace.json`;
      const json: unknown = JSON.parse((await server.send("/marketplace.json")).text);
      const byUrl = await source.readMarketplace({ kind: "marketplace", url: at, label: at }, json, at, signal);
      expect(byUrl.problems).toEqual([]);
      expect(byUrl.skills.map(({ content }) => content)).toEqual(byGit.skills.map(({ content }) => content));
    } finally {
      await source.close();
      await server.close();
    }
  },
);
