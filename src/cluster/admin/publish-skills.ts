import { hostname } from "node:os";
import { userName } from "../../base/processes/live-process.ts";
import type { Settings } from "../../runtime/options.ts";
import type { InspectedSkill } from "../../skills/check.ts";
import type { SkillFile } from "../../sources/reader.ts";
import { publishVersion, withdrawVersions } from "../catalog.ts";
import { insertPack, touchPack } from "../skills/pack-rows.ts";
import { inCluster } from "./in-cluster.ts";

/** A skill that was read and validated. */
interface InspectedFiles {
  readonly inspected: Pick<InspectedSkill, "slug" | "name" | "version" | "digest" | "files">;
  readonly files: readonly Pick<SkillFile, "path" | "bytes">[];
  /** The bundle with the signature of the files. */
  readonly signature: Uint8Array | undefined;
}

export interface ClusterReceipt {
  readonly slug: string;
  readonly version: string;
  readonly digest: string;
  /** False if the same version was published before. */
  readonly isNew: boolean;
}

/** Publishes skills one after the other in the cluster that the settings name. Throws the errors of `publishVersion`. */
export async function publishInCluster(
  settings: Settings,
  skills: readonly InspectedFiles[],
  signal: AbortSignal,
): Promise<readonly ClusterReceipt[]> {
  return await inCluster(settings, async (database) => {
    const receipts: ClusterReceipt[] = [];
    for (const { inspected, files, signature } of skills) {
      const { slug, name, version, digest } = inspected;
      signal.throwIfAborted();
      const bytes = new Map(files.map((file) => [file.path, file.bytes]));
      const inOrder = inspected.files.map(({ path }) => bytes.get(path) ?? new Uint8Array(0));
      if (!(await touchPack(database, digest)))
        await insertPack(database, { digest, files: inspected.files, signature, bytes: inOrder }, signal);
      const by = `${userName()}@${hostname()}`;
      const isNew = await publishVersion(database, { slug, name, version, digest, by });
      receipts.push({ slug, version, digest, isNew });
    }
    return receipts;
  });
}

/** Withdraws a version of a skill, or all its versions, from the cluster that the settings name. Returns the withdrawn versions. */
export async function withdrawInCluster(
  settings: Settings,
  which: { readonly name: string; readonly version?: string | undefined },
): Promise<readonly string[]> {
  return await inCluster(settings, async (database) => await withdrawVersions(database, which));
}
