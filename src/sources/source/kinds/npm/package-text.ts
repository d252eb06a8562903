/** What a person writes in place of a package for those that are installed in the project; no package has this name. */
export const installedText = "node_modules";

/** A package, and which of its versions; an empty range is the version that its publisher recommends. */
export interface WantedPackage {
  readonly name: string;
  /** A range of versions as npm has it, or a tag. */
  readonly range: string;
}

const plainName = "[A-Za-z0-9~-][A-Za-z0-9._~-]*";
const packageForm = new RegExp(`^((?:@${plainName}/)?${plainName})(?:@([A-Za-z0-9._+^~<>=|* -]{0,128}))?$`);
const maxNameLength = 214;

/** `NAME`, `@SCOPE/NAME`, each with `@RANGE`; undefined for anything else. */
export function parsePackageText(text: string): WantedPackage | undefined {
  const [, name = "", range = ""] = packageForm.exec(text) ?? [];
  if (name === "" || name.length > maxNameLength || name.toLowerCase() === installedText) return undefined;
  return { name, range: range.trim() };
}

/** One version of a package that never changes. Without `integrity`, its bytes are what the lock says of the skill. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and base64 of the whole tarball. */
  readonly integrity: string | undefined;
}

/** `NAME@VERSION`, then a blank and the integrity. */
export function toPin({ name, version, integrity }: PinnedPackage): string {
  return `${name}@${version}${integrity === undefined ? "" : ` ${integrity}`}`;
}

export function parsePin(pin: string): PinnedPackage | undefined {
  const [, text = "", integrity] = /^(\S{1,512})(?: (sha512-[A-Za-z0-9+/]{86}==))?$/.exec(pin) ?? [];
  const found = parsePackageText(text);
  return found === undefined || found.range === "" ? undefined : { name: found.name, version: found.range, integrity };
}
