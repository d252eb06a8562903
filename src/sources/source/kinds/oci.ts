import type { SourceKind } from "../source-kind.ts";
import type { Source } from "../../source.ts";
import { type OciReference, parseReference, toReferenceLabel, toReferenceUrl } from "./oci/reference.ts";

/** Skills as artifacts and images, in registries with the distribution protocol of the Open Container Initiative. */
export const ociKind: SourceKind = {
  scheme: "oci",
  parse: (text) => toSource(parseReference(text)),
  at({ label }, pin) {
    const { registry, repository } = parseReference(label);
    return toSource(parseReference(`${toReferenceLabel({ registry, repository })}@${pin}`));
  },
  async open(options) {
    const { openRegistrySource } = await import("./oci/registry-source.ts");
    return openRegistrySource(options);
  },
  async publish(source, skills, options) {
    const { publishSkills } = await import("./oci/publish.ts");
    return await publishSkills(parseReference(source.label), skills, options);
  },
};

function toSource(reference: OciReference): Source {
  return { label: toReferenceLabel(reference), kind: "scheme", url: toReferenceUrl(reference) };
}
