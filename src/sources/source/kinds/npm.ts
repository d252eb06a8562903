import { invalidSource } from "../source-label.ts";
import type { SourceKind } from "../source-kind.ts";
import { installedText, parsePackageText, parsePin } from "./npm/package-text.ts";
import { readNpmSettings } from "./npm/npm-settings.ts";

/**
 * `npm:PACKAGE[@RANGE]`: the skills in a package of the user's registry, and `npm:node_modules`: those in the packages that are installed
 * in the project. Nothing of a package is ever run.
 */
export const npmKind: SourceKind = {
  scheme: "npm",
  parse(text) {
    const rest = text.replace(/^npm:/i, "").trim();
    if (rest === installedText) return { label: `npm:${rest}`, kind: "scheme", url: `npm:${rest}` };
    const wanted = parsePackageText(rest);
    if (wanted === undefined) {
      const why = "what follows npm: is neither the name of a package, with or without a range of versions, nor";
      throw invalidSource(`${why} ${installedText}`, "npm:@scope/name@^1");
    }
    const { name, range } = wanted;
    const label = `npm:${name}${range === "" ? "" : `@${range}`}`;
    return { label, kind: "scheme", url: `${readNpmSettings().registryOf(name)}${name}` };
  },
  at(source, pin) {
    const { name, version, integrity } = parsePin(pin) ?? {};
    if (name === undefined || version === undefined) return source;
    return { ...npmKind.parse(`npm:${name}@${version}`), ...(integrity !== undefined && { ref: integrity }) };
  },
  async open(options) {
    const { openNpmDriver } = await import("./npm/npm-driver.ts");
    return openNpmDriver(options);
  },
};
