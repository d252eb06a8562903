import { ownRoot, projectRoot } from "./attacked-world.ts";

export type Files = Readonly<Record<string, string>>;

/** A skill that a person approved. */
export interface Layout {
  readonly what: string;
  readonly directory: string;
  /** Links as `-> target`. */
  readonly files: Files;
  readonly script?: string;
  readonly entry?: string;
  readonly isOwn: boolean;
  /** A skill without rights, whose code calls it. */
  readonly caller?: { readonly directory: string; readonly files: Files };
}

export const manifest = (permissions: string, extra = "") =>
  [
    'name = "deploy"\nversion = "1.2.0"\ndescription = "Deploys."\nkind = "action"',
    `[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n${extra}`,
    `[permissions]\n${permissions}`,
  ].join("\n");
export const allowed = 'network = ["https://api.example"]\nsecrets = ["KEY"]';
export const main = "def main(args): return 'good'\n";
export const text = (more = "") => `---\nname: deploy\ndescription: Deploys.\n${more}---\nDeploy.\n`;
const action: Files = {
  "SKILL.md": text(),
  "skill.toml": manifest(allowed),
  "code/main.py": main,
  "code/test.py": "def main(args): return 'test only'\n",
  "code/é.txt": "é",
};
export const flow: Files = {
  "SKILL.md": "---\nname: flow\ndescription: Flows.\n---\n",
  "skill.toml":
    'name = "flow"\nversion = "1.0.0"\ndescription = "Flows."\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n[dependencies]\nskills = ["deploy"]\n',
  "code/main.py": "import deploy\n",
};
const own = `${ownRoot}/deploy`;
const ofProject = `${projectRoot}/deploy`;
const inCode = { entry: "code/main.py" };

export const layouts: readonly Layout[] = [
  { what: "an own skill with a manifest", directory: own, files: action, isOwn: true, ...inCode },
  { what: "a skill of the project", directory: ofProject, files: action, isOwn: false, ...inCode },
  {
    what: "a skill with a script and permissions in its metadata",
    directory: own,
    files: {
      "SKILL.md": text("metadata:\n  acp-skills-network: https://api.example\n  acp-skills-secrets: KEY\n"),
      "scripts/run.sh": "echo good\n",
      "scripts/other.sh": "echo other\n",
      "code/main.py": main,
    },
    script: "scripts/run.sh",
    isOwn: true,
  },
  { what: "a version in a directory of its own", directory: `${own}/1.2.0`, files: action, isOwn: true, ...inCode },
  {
    what: "a skill with links inside",
    directory: own,
    files: {
      "SKILL.md": text(),
      "skill.toml": manifest(allowed),
      "lib/one.py": main,
      "lib/two.py": "def main(args): return 'two'\n",
      "code/main.py": "-> ../lib/one.py",
    },
    isOwn: true,
    ...inCode,
  },
  {
    what: "a skill without a sandbox",
    directory: own,
    files: { ...action, "skill.toml": manifest('isolation = "none"') },
    isOwn: true,
    ...inCode,
  },
  {
    what: "a skill that another one calls",
    directory: own,
    files: action,
    isOwn: true,
    ...inCode,
    caller: { directory: `${ownRoot}/flow`, files: flow },
  },
];
