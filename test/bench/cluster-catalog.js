import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openClusterCatalog, publishVersion } from "../../.build/cluster/catalog.js";
import { openDatabase, parseClusterUrl } from "../../.build/cluster/database.js";
import { openSkillPacks } from "../../.build/cluster/skills.js";
import { systemClock } from "../../.build/base/clock.js";
import { openApp } from "../../.build/runtime/app.js";
import { createCaller } from "../../.build/runtime/caller.js";
import { readOptions } from "../../.build/runtime/options.js";
import { percentile, summarise, summariseRatio } from "./measure.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */
/** @import { Database } from "../../.build/cluster/database.js" */

const few = 10_000;
const many = 100_000;
const published = 200;
const lists = 200;

/**
 * Measures published skills of a cluster: until another server offers one, and with 10,000 and 100,000 of them in a server. Needs PostgreSQL
 * here, and a Node that loads TypeScript.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureClusterCatalog({ folder, say }) {
  const { postgresFault, startPostgres } = await import("../cluster/postgres.ts");
  const fault = postgresFault();
  if (fault !== undefined) {
    say(`cluster-catalog is not measured: ${fault}`);
    return [];
  }
  const server = await startPostgres();
  /** @type {Database[]} */
  const opened = [];
  const openUrl = async (/** @type {string} */ url) => {
    const database = await openDatabase(parseClusterUrl(url), { log: silent, clock: systemClock });
    opened.push(database);
    return database;
  };
  try {
    const url = await server.newDatabase();
    const [own, other] = [await openUrl(url), await openUrl(url)];
    const waits = await measureVisibility(own, openServer(other, join(folder, "visible")));
    const small = await measureServer(await openUrl(await server.newDatabase()), few, join(folder, "few"), say);
    const large = await measureServer(await openUrl(await server.newDatabase()), many, join(folder, "many"), say);
    const perSkill = large.bytes / many;
    const p50 = percentile(waits, 0.5);
    return [
      {
        what: "published skill → offered by another server (LISTEN/NOTIFY, files downloaded and verified)",
        unit: "ms",
        ours: summarise(waits),
        target: "p50 ≤ 20 ms",
        holds: p50 <= 20,
        note: `p99 ${percentile(waits, 0.99).toFixed(1)} ms`,
      },
      ...["list_skills", "list_skills_first"].map((name) => {
        const [ours, peer] = name === "list_skills" ? [large.lists, small.lists] : [large.first, small.first];
        const ratio = summariseRatio(ours, peer);
        return {
          what: `${name === "list_skills" ? "list_skills" : "first list_skills after a change"}, 100,000 published skills`,
          unit: "ms",
          ours: summarise(ours),
          peer: { is: "10,000", value: summarise(peer) },
          ratio,
          ...(name === "list_skills" && { target: "≤ 1.2 ×", holds: ratio.median <= 1.2 }),
        };
      }),
      {
        what: "heap of a server for each of 100,000 published skills, without their names, descriptions and digests",
        unit: "B",
        ours: summarise([perSkill - large.text]),
        target: "≤ 400 B",
        holds: perSkill - large.text <= 400,
        note: `${perSkill.toFixed(0)} B with them`,
      },
      { what: "100,000 published skills: first start of a server", unit: "s", ours: summarise([large.firstStart]) },
      {
        what: "100,000 published skills: next start, until all are offered",
        unit: "s",
        ours: summarise([large.start]),
      },
    ];
  } finally {
    for (const database of opened) await database.close();
    server.stop();
  }
}

const silent = () => undefined;

/**
 * Inserts the files of skills as a member stores them; unless `isPublished`, nobody is offered them yet.
 * @param {Database} database
 * @param {number} count
 * @param {boolean} isPublished
 */
async function insertSkills(database, count, isPublished) {
  await database.query(
    `with made as materialized (
       select number, slug, text, encode(sha256(text), 'hex') as hex,
              sha256(convert_to(encode(sha256(text), 'hex') || E'  SKILL.md\n', 'UTF8')) as digest
       from (select number, 'skill-' || lpad(number::text, 6, '0') as slug from generate_series(1, $1::int) number) names,
            lateral (select convert_to(concat(E'---\nname: ', slug, E'\ndescription: ', $3::text, number,
                     E'\nmetadata:\n  version: 1.0.0\n---\nText of ', slug, E'\n'), 'UTF8') as text) texts
     ), packs as (
       insert into acp_skills.skill_packs (digest, files, size)
       select digest, json_build_array(json_build_array('SKILL.md', octet_length(text), hex))::text, octet_length(text) from made
     ), parts as (insert into acp_skills.skill_parts select digest, 0, text from made),
     numbered as (update acp_skills.catalog_revision set revision = $1 where $2)
     insert into acp_skills.catalog (slug, version, name, digest, revision, published_by)
     select slug, '1.0.0', slug, digest, number, 'bench' from made where $2`,
    [count, isPublished, description],
  );
}

const description = "Turns what people write about a thing into what others can use, and says where it is from: ";

/**
 * A server that follows the catalog, and the tools of a session there.
 * @param {Database} database
 * @param {string} dataDirectory
 */
function openServer(database, dataDirectory) {
  const settings = readOptions({ log: silent, dataDirectory, defaultRoots: false, cluster: "postgres://bench/bench" });
  const packs = openSkillPacks(database, settings);
  const catalog = openClusterCatalog(database, packs, settings);
  const app = openApp(settings, { addSkills: catalog.addSkills });
  const session = app.openSession({});
  const caller = createCaller(session, { sessionId: "bench", owner: "bench", transport: "in-process" });
  const list = () => app.toolbox.call("list_skills", { detail: "summary", limit: 50 }, caller);
  /** Until so many skills are offered. @param {number} count */
  const offers = async (count) => {
    while (session.catalog.snapshot.skills.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const close = async () => {
    catalog.close();
    await Promise.all([app.close(), packs.close()]);
  };
  return { session, list, offers, close };
}

/**
 * Milliseconds from the end of a publication until another server has told its session.
 * @param {Database} database
 * @param {Awaited<ReturnType<typeof openServer>>} server
 */
async function measureVisibility(database, server) {
  await insertSkills(database, published, false);
  await server.session.catalog.ready;
  const rows = await database.query(
    "select 'sha256:' || encode(digest, 'hex') as digest, files, convert_from(bytes, 'UTF8') as text from acp_skills.skill_packs join acp_skills.skill_parts using (digest)",
  );
  /** @type {number[]} */
  const times = [];
  for (const row of rows) {
    const { digest, text } = /** @type {{ digest: string, text: string }} */ (row);
    const slug = /^name: (.*)$/m.exec(text)?.[1] ?? "";
    const seen = new Promise((/** @type {(at: number) => void} */ resolve) => {
      const stop = server.session.catalog.onChange(() => {
        stop();
        resolve(performance.now());
      });
    });
    const started = performance.now();
    await publishVersion(database, { slug, name: slug, version: "1.0.0", digest, by: "bench" });
    times.push((await seen) - started);
  }
  await server.close();
  return times;
}

/**
 * What a server with so many published skills takes.
 * @param {Database} database
 * @param {number} count
 * @param {string} dataDirectory
 * @param {(sentence: string) => void} say
 */
async function measureServer(database, count, dataDirectory, say) {
  await insertSkills(database, count, true);
  const before = retainedHeap();
  const firstStart = await timeOf(async () => {
    const server = openServer(database, dataDirectory);
    await server.offers(count);
    await server.close();
  });
  say(`first start with ${count} skills: ${firstStart.toFixed(1)} s`);
  /** @type {Awaited<ReturnType<typeof openServer>> | undefined} */
  let server;
  const start = await timeOf(async () => {
    server = openServer(database, dataDirectory);
    await server.offers(count);
  });
  if (server === undefined) throw new Error("The server was not opened.");
  const { list } = server;
  const first = [1_000 * (await timeOf(list))];
  /** @type {number[]} */
  const times = [];
  for (let round = 0; round < lists; round++) times.push(1_000 * (await timeOf(list)));
  const bytes = retainedHeap() - before;
  const { skills } = server.session.catalog.snapshot;
  const text = skills.reduce((sum, { skill }) => sum + skill.slug.length + skill.description.length + 64, 0) / count;
  await server.close();
  return { firstStart, start, first, lists: times, bytes, text };
}

/** @param {() => Promise<unknown>} work */
async function timeOf(work) {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** Bytes of the heap that are in use after garbage collection. */
function retainedHeap() {
  setFlagsFromString("--expose-gc");
  /** @type {unknown} */
  const found = runInNewContext("gc");
  const collect = /** @type {() => void} */ (found);
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
