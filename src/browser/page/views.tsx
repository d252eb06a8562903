import type { JSX } from "preact";
import { BudgetView } from "./views/budget-view.tsx";
import type { IconName } from "./components/icon.tsx";
import { SessionsView } from "./views/sessions-view.tsx";
import { SourcesView } from "./views/sources-view.tsx";
import type { View } from "./state/location.ts";

/** A view besides the list of skills, with the title and icon of its link. All of these views need a server. */
export interface OtherView {
  readonly view: Exclude<View, "skills">;
  readonly title: string;
  readonly icon: IconName;
  readonly Content: () => JSX.Element;
}

export const otherViews: readonly OtherView[] = [
  { view: "sessions", title: "Sessions", icon: "plug", Content: SessionsView },
  { view: "budget", title: "Context budget", icon: "layers", Content: BudgetView },
  { view: "sources", title: "Sources", icon: "folder", Content: SourcesView },
];
