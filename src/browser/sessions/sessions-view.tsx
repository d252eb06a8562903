import type { JSX } from "preact";
import { Empty } from "../parts/empty.tsx";

export function SessionsView(): JSX.Element {
  return <Empty icon="layers" title="Sessions" />;
}
