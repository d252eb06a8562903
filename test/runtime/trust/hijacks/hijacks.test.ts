import { describe, expect, test } from "vitest";
import { type AttackedWorld, type Executed, type Moment, moments, openAttackedWorld } from "./attacked-world.ts";
import { type Attack, attacks, put } from "./attacks.ts";
import { type Files, type Layout, layouts } from "./layouts.ts";
import { noPolicy } from "../../../../src/runtime/trust/policy/open-policies.ts";

const grantForms = [
  "trust",
  "once",
  "session",
  "--grant NAME",
  "--grant NAME@DIGEST",
  "--grant PATH",
  "policy",
] as const;
type GrantForm = (typeof grantForms)[number];

/** Before the call, with or without the catalog knowing; or with a catalog that saw other files for a moment. */
const times = ["noticed", "unnoticed", "noticed and undone", ...moments] as const;
type Time = (typeof times)[number];

interface Trial {
  readonly layout: Layout;
  readonly attack: Attack;
  readonly form: GrantForm;
  readonly time: Time;
}

/** Everything against the first layout; against the others each attack at each time, with the forms of grants in turn. */
const trials: readonly Trial[] = layouts.flatMap((layout, first) =>
  attacks.flatMap((attack, second) =>
    times.flatMap((time, third) => {
      const forms = grantForms.filter((form) => isPossible(layout, form, time));
      const inTurn = forms[(first + second + third) % forms.length];
      const chosen = first === 0 || process.env["ACP_SKILLS_SLOW_TESTS"] === "1" ? forms : inTurn ? [inTurn] : [];
      return chosen.map((form) => ({ layout, attack, form, time }));
    }),
  ),
);

/** Only what a person is asked about can be attacked meanwhile; what is allowed once is gone after the call. */
function isPossible({ isOwn, caller }: Layout, form: GrantForm, time: Time): boolean {
  if (time === "asked" || form === "once") return form === "trust" || (form === "once" && time === "asked");
  // What is granted beforehand is for every own skill that calls it.
  return (isOwn || form !== "--grant NAME") && (caller === undefined || form === "trust" || form === "session");
}

async function open({ layout, form }: Pick<Trial, "layout" | "form">): Promise<AttackedWorld> {
  const { directory, files, caller } = layout;
  const plain = (base: string, all: Files) =>
    Object.fromEntries(Object.entries(all).flatMap(([path, content]) => [[`${base}/${path}`, content]]));
  const skills = { ...plain(directory, files), ...(caller && plain(caller.directory, caller.files)) };
  const contents = Object.fromEntries(Object.entries(skills).filter(([, content]) => !content.startsWith("-> ")));
  const links = Object.entries(skills).filter(([, content]) => content.startsWith("-> "));
  const calls = caller ? { flow: "deploy" } : {};
  const start = async (options: Parameters<typeof openAttackedWorld>[1]): Promise<AttackedWorld> => {
    const world = await openAttackedWorld(contents, { ...options, calls });
    for (const [link, content] of links) world.files.link(link, content.slice(3));
    await world.notice();
    return world;
  };
  if (form === "trust" || form === "once") return await start({});
  if (form === "session") return await start({ policy: { approvals: "session" } });
  if (form === "--grant NAME") return await start({ grants: ["deploy"] });
  if (form === "--grant PATH") return await start({ grants: [directory] });
  const digest = await (await start({})).grant.digestOf("deploy");
  if (form === "--grant NAME@DIGEST") return await start({ grants: [`deploy@${digest}`] });
  const capabilities = { network: ["https://api.example"], secrets: ["KEY"], project: "none" } as const;
  const given = layout.what.includes("without a sandbox")
    ? ({ ...capabilities, network: [], secrets: [], isolation: "none" } as const)
    : capabilities;
  return await start({
    policy: {
      ...noPolicy,
      grants: (subject) =>
        subject.name === "deploy" && subject.digest === digest
          ? { capabilities: given, file: "/etc/acp-skills.policy.json", rule: "grants[0]" }
          : undefined,
    },
  });
}

const isPrivileged = ({ network, secrets, isolation }: Executed): boolean =>
  network.length > 0 || secrets.length > 0 || isolation === "none";

/** The files of a layout as code in the sandbox finds them. */
function approvedFiles(files: Files): Files {
  const contentOf = (path: string): string => {
    const content = files[path] ?? "";
    return content.startsWith("-> ../") ? contentOf(content.slice(6)) : content;
  };
  return Object.fromEntries(Object.keys(files).map((path) => [path, contentOf(path)]));
}

interface Outcome {
  readonly completed: boolean;
  /** Of privileged runs since the attack, what differs from what was approved. */
  readonly foreign: readonly Executed[];
  readonly privileged: number;
  readonly questions: number;
}

async function attempt(trial: Trial): Promise<Outcome> {
  const { layout, attack, form, time } = trial;
  const { directory, files, caller, script, entry } = layout;
  const world = await open(trial);
  const name = caller === undefined ? "deploy" : "flow";
  if (time !== "asked") {
    const isRunning = await world.run(name, script);
    if (!isRunning || !world.executed.some(isPrivileged)) throw new Error(`The skill itself does not run: ${form}`);
    world.answer = "not-now";
  } else world.answer = form === "once" ? "once" : "trust";
  world.executed.length = 0;
  world.asked.length = 0;
  const act = (): void => attack.act(world, layout);
  if (time === "noticed" || time === "unnoticed" || time === "noticed and undone") act();
  if (time === "noticed" || time === "noticed and undone") await world.notice();
  if (time === "noticed and undone") {
    world.files.remove(directory);
    put(world, directory, files);
  }
  if ((moments as readonly string[]).includes(time)) world.interfere = { at: time as Moment, act };
  const completed = await world.run(name, script);
  if (world.interfere !== undefined) throw new Error(`The attack did not happen: ${time}`);
  const wants = isolated(layout)
    ? { network: [], secrets: [], isolation: "none" }
    : { network: ["https://api.example"], secrets: ["KEY"], isolation: "memory" };
  const approved: Executed = { name: "deploy", files: approvedFiles(files), entry, script, ...wants };
  const privileged = world.executed.filter(isPrivileged);
  const foreign = privileged.filter((run) => !isSame(run, approved));
  const outer = world.executed.find((run) => run.name === "flow");
  // Whoever was approved to call it may, and nobody else.
  if (caller !== undefined && privileged.length > 0 && !isEqual(outer?.files ?? {}, caller.files) && outer)
    foreign.push(outer);
  return { completed, foreign, privileged: privileged.length, questions: world.asked.length };
}

function isolated({ what }: Layout): boolean {
  return what === "a skill without a sandbox";
}

function isSame(run: Executed, approved: Executed): boolean {
  return isEqual(toComparable(run), toComparable(approved));
}

function toComparable({ files, ...rest }: Executed): unknown {
  return { ...rest, files: Object.entries(files).sort() };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value).sort() : value;
}

describe.each(layouts)("hijacks of $what", (layout) => {
  test.each(times)("%s: what runs with rights is exactly what was approved", async (time) => {
    const stolen: string[] = [];
    const disturbed: string[] = [];
    let refused = 0;
    for (const trial of trials.filter((one) => one.layout === layout && one.time === time)) {
      const { attack, form } = trial;
      const { foreign, privileged, completed, questions } = await attempt(trial);
      const what = `${form}: ${attack.what}`;
      if (foreign.length > 0) stolen.push(`${what}: ${JSON.stringify(foreign)}`);
      const isAsked = questions > (time === "asked" ? 1 : 0);
      if (attack.isHarmless === true && (privileged !== 1 || !completed || isAsked)) disturbed.push(what);
      if (privileged === 0) refused += 1;
    }
    expect({ stolen, disturbed }).toEqual({ stolen: [], disturbed: [] });
    // Otherwise the attacks would have no effect at all.
    expect(refused).toBeGreaterThan(0);
  });
});

test("there are more than a thousand hijacks", () => {
  expect(trials.length).toBeGreaterThan(1_000);
});
