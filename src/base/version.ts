/** The version in `package.json`; a test checks that the two are equal. */
export const version = "0.1.0";

/** Equal to `engines` in package.json; a test checks that. */
export const minNodeVersion = "20.19.0";

/** Why this package cannot run on that Node version, or undefined. This file must parse on much older versions. */
export function nodeFault(node: string): string | undefined {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = minNodeVersion.split(".").map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `acp-skills needs Node ${minMajor}.${minMinor} or newer; this is Node ${node}`;
}
