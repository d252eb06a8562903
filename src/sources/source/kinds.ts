import { mcpKind } from "./kinds/mcp.ts";
import { npmKind } from "./kinds/npm.ts";
import { ociKind } from "./kinds/oci.ts";
import type { SourceKind } from "./source-kind.ts";

/** The kinds of sources with a scheme of their own. */
const kinds: readonly SourceKind[] = [mcpKind, npmKind, ociKind];

/** Returns the kind of a source by its text or label; undefined if neither begins with the scheme of a kind. */
export function sourceKindOf(text: string): SourceKind | undefined {
  const scheme = /^([a-z][a-z0-9]*):/i.exec(text)?.[1]?.toLowerCase();
  return kinds.find((kind) => kind.scheme === scheme);
}
