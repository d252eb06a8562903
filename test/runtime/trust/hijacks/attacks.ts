import { type AttackedWorld, ownRoot, projectRoot } from "./attacked-world.ts";
import { type Files, type Layout, allowed, flow, main, manifest, text } from "./layouts.ts";

/** What an attacker does to the skill at a directory. */
export interface Attack {
  readonly what: string;
  readonly act: (world: AttackedWorld, layout: Layout) => void;
  /** The bytes and what the skill wants stay the same, so that nobody must be asked again. */
  readonly isHarmless?: true;
}

const evil = "def main(args): return 'evil'\n";
const wide = 'network = ["https://api.example", "https://evil.example"]\nsecrets = ["KEY", "OTHER"]';

export function put({ files }: AttackedWorld, directory: string, skill: Files): void {
  for (const [path, content] of Object.entries(skill)) {
    const file = `${directory}/${path}`;
    if (content.startsWith("-> ")) files.link(file, content.slice(3));
    else files.write(file, content);
  }
}

function evilOf(skill: Files): Files {
  return { ...skill, "code/main.py": evil, "scripts/run.sh": "echo evil\n" };
}

function replaced(world: AttackedWorld, file: string, content: string): void {
  world.files.remove(file);
  world.files.write(file, content);
}

export const attacks: readonly Attack[] = [
  {
    what: "one byte of the code",
    act: (world, { directory }) => replaced(world, `${directory}/code/main.py`, main.replace("good", "goof")),
  },
  {
    what: "one byte of the script",
    act: (world, { directory }) => replaced(world, `${directory}/scripts/run.sh`, "echo goof\n"),
  },
  {
    what: "one byte of the instructions",
    act: (world, { directory, files }) => replaced(world, `${directory}/SKILL.md`, `${files["SKILL.md"]} `),
  },
  {
    what: "a manifest that wants more",
    act: (world, { directory }) => replaced(world, `${directory}/skill.toml`, manifest(wide)),
  },
  {
    what: "a manifest that wants no sandbox",
    act: (world, { directory }) =>
      replaced(world, `${directory}/skill.toml`, manifest(`${allowed}\nisolation = "none"`)),
  },
  {
    what: "a manifest with another entrypoint",
    act: (world, { directory, files }) =>
      replaced(world, `${directory}/skill.toml`, (files["skill.toml"] ?? "").replace("code/main.py", "code/test.py")),
  },
  {
    what: "an added file",
    act: ({ files }, { directory }) => files.write(`${directory}/code/json.py`, evil),
  },
  {
    what: "an added link to a file outside",
    act({ files }, { directory }) {
      files.write("/tmp/evil.py", evil);
      files.link(`${directory}/code/json.py`, "/tmp/evil.py");
    },
    isHarmless: true,
  },
  {
    what: "a removed file",
    act: ({ files }, { directory, files: all }) =>
      files.remove(`${directory}/${Object.keys(all).find((path) => /test|other|two/.test(path)) ?? "SKILL.md"}`),
  },
  {
    what: "another link target inside",
    act({ files }, { directory }) {
      files.write(`${directory}/lib/two.py`, evil);
      files.remove(`${directory}/code/main.py`);
      files.link(`${directory}/code/main.py`, "../lib/two.py");
    },
  },
  {
    what: "code that is a link to a file outside",
    act({ files }, { directory }) {
      files.write("/tmp/evil.py", evil);
      for (const file of ["code/main.py", "scripts/run.sh"]) {
        files.remove(`${directory}/${file}`);
        files.link(`${directory}/${file}`, "/tmp/evil.py");
      }
    },
  },
  {
    what: "a directory of code that is a link to one outside",
    act({ files }, { directory }) {
      files.write("/tmp/code/main.py", evil);
      files.remove(`${directory}/code`);
      files.link(`${directory}/code`, "/tmp/code");
    },
  },
  {
    what: "a swapped directory",
    act(world, { directory, files }) {
      put(world, "/tmp/evil", evilOf(files));
      world.files.rename(directory, "/tmp/aside");
      world.files.rename("/tmp/evil", directory);
    },
  },
  {
    what: "a link in place of the directory",
    act(world, { directory, files }) {
      put(world, "/tmp/evil", evilOf(files));
      world.files.rename(directory, "/tmp/aside");
      world.files.link(directory, "/tmp/evil");
    },
  },
  {
    what: "a root that is replaced",
    act(world, { directory, files }) {
      const root = directory.startsWith(ownRoot) ? ownRoot : projectRoot;
      put(world, `/tmp/root${directory.slice(root.length)}`, evilOf(files));
      world.files.rename(root, "/tmp/aside");
      world.files.link(root, "/tmp/root");
    },
  },
  {
    what: "a skill of the same name in the project",
    act: (world, { files }) => put(world, `${projectRoot}/deploy`, evilOf(files)),
  },
  {
    what: "a skill of the same name in a directory that the session adds",
    act: (world, { files }) => put(world, "/work/added/.agents/skills/deploy", evilOf(files)),
  },
  {
    what: "a newer version of the same name in the project",
    act: (world, { files }) =>
      put(world, `${projectRoot}/deploy/9.0.0`, {
        ...evilOf(files),
        "skill.toml": (files["skill.toml"] ?? manifest(allowed)).replace("1.2.0", "9.0.0"),
      }),
  },
  {
    what: "another skill that takes the name",
    act(world, { directory, files }) {
      world.files.rename(directory, `${ownRoot}/former`);
      put(world, `${ownRoot}/other`, evilOf(files));
    },
  },
  {
    what: "the approved skill under another name",
    act(world, { directory, files }) {
      const name = (path: string): string => (files[path] ?? "").replaceAll("deploy", "deploys");
      replaced(world, `${directory}/SKILL.md`, name("SKILL.md"));
      if (files["skill.toml"] !== undefined) replaced(world, `${directory}/skill.toml`, name("skill.toml"));
    },
  },
  {
    what: "names in other case",
    act({ files }, { directory }) {
      files.write(`${directory}/code/Main.py`, evil);
      files.write(`${directory}/scripts/Run.sh`, evil);
      files.write(`${directory}/skill.md`, text("metadata:\n  acp-skills-network: https://evil.example\n"));
      files.write(`${directory}/SKILL.TOML`, manifest(wide));
    },
  },
  {
    what: "a file whose name is composed in another way",
    act({ files }, { directory }) {
      files.remove(`${directory}/code/é.txt`);
      files.write(`${directory}/code/é.txt`.normalize("NFD"), "é");
      files.write(`${directory}/code/x.txt`, "");
    },
  },
  {
    what: "a manifest outside, reached by a link",
    act({ files }, { directory }) {
      files.write("/tmp/skill.toml", manifest(wide));
      files.remove(`${directory}/skill.toml`);
      files.link(`${directory}/skill.toml`, "/tmp/skill.toml");
    },
  },
  {
    what: "hidden files",
    act: ({ files }, { directory }) => files.write(`${directory}/code/.env`, "PYTHONPATH=/tmp"),
    isHarmless: true,
  },
  {
    what: "a skill that calls it, changed",
    act(world, { caller }) {
      if (caller !== undefined) replaced(world, `${caller.directory}/code/main.py`, "import deploy # evil\n");
    },
  },
  {
    what: "a skill that calls it, shadowed by the project",
    act: (world, { caller }) => {
      if (caller !== undefined) put(world, `${projectRoot}/flow`, { ...flow, "code/main.py": "evil" });
    },
  },
  {
    what: "a manifest that was another one for a moment",
    act(world, { directory, files }) {
      replaced(world, `${directory}/skill.toml`, manifest(wide));
      if (files["skill.toml"] !== undefined) replaced(world, `${directory}/skill.toml`, files["skill.toml"]);
      else world.files.remove(`${directory}/skill.toml`);
    },
    isHarmless: true,
  },
];
