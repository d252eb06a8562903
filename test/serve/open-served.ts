import { onTestFinished } from "vitest";
import { type ServeConfig, defaultServerLimits } from "../../src/serve/config.ts";
import type { RunStore } from "../../src/runtime/runs/run-store.ts";
import { type MemoryRunsOptions, openMemoryRuns } from "../runtime/runs/memory-runs.ts";
import { memoryRunStore } from "../runtime/runs/memory-run-store.ts";
import type { MemoryScript } from "../runtime/sandbox/memory-sandbox.ts";
import type { ManualClock } from "../manual-clock.ts";
import { tokenOf } from "./caller-config.ts";
import { type OpenHttp, openHttp } from "./open-http.ts";

export interface ServedOptions extends Omit<MemoryRunsOptions, "records"> {
  /** By path below the root of skills. */
  readonly skills: Readonly<Record<string, string>>;
  readonly config?: Partial<ServeConfig>;
  /** What programs do. Default: they return their arguments. */
  readonly script?: MemoryScript;
  readonly records?: RunStore;
}

export interface Served extends Pick<OpenHttp, "url" | "close" | "mcpApp"> {
  readonly records: RunStore;
  /** Of the programs. */
  readonly clock: ManualClock;
  /** A request; `as` names the caller whose token is sent. */
  readonly get: (path: string, options?: { readonly as?: string | undefined } & RequestInit) => Promise<Answer>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of JSON. */
  readonly body: unknown;
}

/** Records by the clock of the programs, which starts at 0. */
export function openRecords(): RunStore {
  return memoryRunStore({ now: () => 0 });
}

const returnArguments: MemoryScript = ({ run: { program } }) => ({
  type: "returned",
  value: "args" in program ? program.args : null,
});

/** {@link openHttp} with scripted programs, until the test has finished. Nobody but the callers of `config` has a token. */
export async function openServed({
  skills,
  config = {},
  script = returnArguments,
  records = openRecords(),
  ...runsOptions
}: ServedOptions): Promise<Served> {
  const { runs, clock } = openMemoryRuns(script, { ...runsOptions, records });
  const opened = await openHttp({
    skills: Object.fromEntries(Object.entries(skills).map(([path, text]) => [`/skills/${path}`, text])),
    config: { callers: [], limits: { ...defaultServerLimits, shutdownSeconds: 0 }, ...config },
    runs,
  });
  Object.assign(opened.app, { runRecords: () => Promise.resolve(records) });
  onTestFinished(async () => {
    await opened.close();
  });
  return {
    url: opened.url,
    close: () => opened.close(),
    mcpApp: opened.mcpApp,
    records,
    clock,
    async get(path, { as, ...init } = {}) {
      const answer = await opened.get(path, { ...init, token: as === undefined ? null : tokenOf(as) });
      const text = await answer.text();
      const isJson = answer.headers.get("content-type") === "application/json" && text !== "";
      const body = isJson ? (JSON.parse(text) as unknown) : undefined;
      return { status: answer.status, headers: answer.headers, text, body };
    },
  };
}

/** A skill that is invoked. */
export function action(name: string, rest = ""): Record<string, string> {
  const manifest = `name = "${name}"\nversion = "2.1.0"\ndescription = "Does ${name}."\nkind = "action"\n`;
  return {
    [`${name}/SKILL.md`]: `---\nname: Shown ${name}\nshort_description: Short.\n---\n`,
    [`${name}/skill.toml`]: `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n${rest}`,
    [`${name}/main.py`]: "def main(args):\n    return args\n",
  };
}

/** A skill that is read. */
export function instruction(name: string): Record<string, string> {
  return { [`${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Tells about ${name}.\n---\n# ${name}\n` };
}
