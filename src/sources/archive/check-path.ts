import { isGitName } from "../../base/paths/guarded-names.ts";
import { SkillsError } from "../../base/errors.ts";
import { unseenCharacters } from "../../base/text/unsafe-characters.ts";
import { skillLimits } from "./skill-limits.ts";

/** The longest segment that file systems take, in bytes of UTF-8. */
const segmentBytes = 255;
const unseen = new RegExp(`[${unseenCharacters}]`, "u");
const unfitForWindows = /[<>:"|?*]|[. ]$/;
const windowsDevice = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?: *\..*)?$/i;

/**
 * Why a path cannot name a file of a remote skill: the end of a sentence that starts with "The path"; undefined if it can. The rules are
 * the same on every platform, so that a skill that installs on one installs on all.
 */
export function remotePathFault(path: string): string | undefined {
  if (path === "") return "is empty";
  if (path.length > skillLimits.pathLength) return `has more than ${skillLimits.pathLength} characters`;
  if (path.includes("\\")) return "contains a backslash";
  if (path.startsWith("/")) return "is absolute";
  if (/^[A-Za-z]:/.test(path)) return "starts with a drive letter";
  if (unseen.test(path)) return "contains a control character or an invisible one";
  for (const segment of path.split("/")) {
    const fault = segmentFault(segment);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function segmentFault(segment: string): string | undefined {
  if (segment === "") return "has an empty segment";
  if (segment === "." || segment === "..") return `has a segment ${segment}`;
  if (isGitName(segment)) return "leads into a directory of git";
  if (unfitForWindows.test(segment))
    return `has the segment ${JSON.stringify(segment)}, which is not a valid name on Windows`;
  if (windowsDevice.test(segment)) return `has the segment ${JSON.stringify(segment)}, which is a device on Windows`;
  if (segment.length * 3 > segmentBytes && Buffer.byteLength(segment) > segmentBytes)
    return `has a segment of more than ${segmentBytes} bytes`;
  return undefined;
}

/** Returns the path. Throws SOURCE_INVALID if it cannot name a file; `container` is a noun such as "archive". */
export function checkPath(path: string, container: string): string {
  const fault = remotePathFault(path);
  if (fault === undefined) return path;
  throw new SkillsError("SOURCE_INVALID", `The ${container} has an unusable path: ${quote(path)} ${fault}.`);
}

type Directory = Map<string, { readonly name: string; readonly below: Directory | undefined }>;

/**
 * Throws SOURCE_INVALID if one path is a directory of another. Throws also if two paths name the same file where case or Unicode
 * normalisation is ignored.
 */
export function checkCollisions(files: readonly { readonly path: string }[], container: string): void {
  const root: Directory = new Map();
  for (const { path } of files) {
    let directory = root;
    const segments = path.split("/");
    for (const [index, segment] of segments.entries()) {
      const isFile = index === segments.length - 1;
      const known = directory.get(foldName(segment));
      if (known !== undefined && (known.name !== segment || isFile || known.below === undefined)) {
        const same =
          known.name === segment
            ? "is there twice"
            : `names the same file as ${quote(known.name)} on some file systems`;
        throw new SkillsError("SOURCE_INVALID", `The ${container} has an unusable path: ${quote(path)} ${same}.`);
      }
      const below: Directory | undefined = isFile ? undefined : (known?.below ?? new Map());
      if (known === undefined) directory.set(foldName(segment), { name: segment, below });
      if (below !== undefined) directory = below;
    }
  }
}

/** Folds case and normalisation. Upper case in between folds letters such as ß to two letters; ẞ becomes ß first. */
function foldName(name: string): string {
  return name.normalize("NFKD").toLowerCase().toUpperCase().toLowerCase().normalize("NFKD");
}

function quote(path: string): string {
  return JSON.stringify(path.length > 120 ? `${path.slice(0, 120)}…` : path);
}
