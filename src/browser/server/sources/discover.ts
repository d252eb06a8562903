import { isSkillsError } from "../../../base/errors.ts";
import { readNow } from "../../../sources/install.ts";
import { findLocked, readLock, sourceOfEntry } from "../../../sources/lock-file.ts";
import { useOfSkill } from "../../../sources/invoke.ts";
import { parseSource } from "../../../sources/source.ts";
import type { Discovered, InstallPlace } from "../../wire/sources.ts";
import type { BrowseDoor } from "../browse-door.ts";
import { installPlaces, toSkillsPlace } from "./places.ts";
import type { LimitedSourceReader } from "./limited-source-reader.ts";
import type { RemoteIndex } from "../../../sources/reader.ts";

const mostSkills = 500;
const mostProblems = 20;

/** What a source offers. Throws INVALID_OPTIONS for a text that names none. */
export async function discover(
  text: string,
  sourceReader: LimitedSourceReader,
  door: Pick<BrowseDoor, "directory" | "home">,
  signal: AbortSignal,
): Promise<Discovered> {
  const source = parseSource(text);
  const index = await sourceReader.read({ typed: [source], signal }, (reader, reading) =>
    readNow(reader, source, reading),
  );
  const installed = installPlaces.map((place) => [place, installedNames(place, index, door)] as const);
  const skills = index.skills.slice(0, mostSkills).map((skill) => {
    const { name, description, version } = skill;
    const use = useOfSkill(skill);
    return {
      name,
      description,
      ...(version !== undefined && { version }),
      installed: installed.filter(([, names]) => names.has(name)).map(([place]) => place),
      ...("why" in use && { unusable: use.why }),
    };
  });
  const { problems } = index;
  return {
    source: source.label,
    skills,
    more: index.skills.length - skills.length,
    problems: [
      ...problems.slice(0, mostProblems),
      ...(problems.length > mostProblems ? [`and ${problems.length - mostProblems} more problems`] : []),
    ],
  };
}

/** The names in the index of what is installed from there. */
function installedNames(
  place: InstallPlace,
  index: RemoteIndex,
  door: Pick<BrowseDoor, "directory" | "home">,
): ReadonlySet<string> {
  const names = new Set<string>();
  try {
    for (const [key, entry] of readLock(toSkillsPlace(place, door)).entries) {
      const from = sourceOfEntry(entry, [index.source]);
      const remote = "why" in from || from.url !== index.source.url ? undefined : findLocked(key, entry, index);
      if (remote !== undefined) names.add(remote.name);
    }
  } catch (error) {
    // The list of what is installed says why.
    if (!isSkillsError(error)) throw error;
  }
  return names;
}
