/** @param {string} name @param {string} text */
const skill = (name, text) => ({
  name,
  description: `Does ${name}.`,
  content: /** @type {const} */ ({ type: "skill-md", url: `https://skills.example/${name}`, digest: text }),
});

/** A source with two published versions, for processes. */
export const published = {
  first: { alpha: "first", beta: "first" },
  second: { alpha: "second" },
};

/** @param {keyof typeof published} [version] */
export function openVersions(version = "first") {
  let current = version;
  return {
    /** @param {keyof typeof published} next */
    publish(next) {
      current = next;
    },
    openReader: () =>
      Promise.resolve({
        read: (/** @type {import("../../../src/sources/source.ts").Source} */ source) =>
          Promise.resolve({
            source,
            form: /** @type {const} */ ("agent-skills-0.2"),
            skills: Object.entries(published[current]).map(([name, text]) => skill(name, text)),
            problems: [],
          }),
        skillFiles(/** @type {import("../../../src/sources/reader.ts").RemoteSkill} */ { name, content }) {
          const text = "digest" in content ? (content.digest ?? "") : "";
          return Promise.resolve([
            {
              path: "SKILL.md",
              bytes: Buffer.from(`---\nname: ${name}\ndescription: Does ${name}.\n---\n${text}\n`),
              executable: false,
            },
            { path: "a/run.sh", bytes: Buffer.from(`echo ${text}`), executable: true },
          ]);
        },
        close: () => Promise.resolve(),
      }),
  };
}
