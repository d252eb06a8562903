import type { JSX } from "preact";
import { Empty } from "../parts/empty.tsx";

export function SourcesView(): JSX.Element {
  return <Empty icon="layers" title="Sources" />;
}
