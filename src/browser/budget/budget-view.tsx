import type { JSX } from "preact";
import { Empty } from "../parts/empty.tsx";

export function BudgetView(): JSX.Element {
  return <Empty icon="layers" title="Budget" />;
}
