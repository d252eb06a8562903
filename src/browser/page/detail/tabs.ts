import type { JSX } from "preact";
import type { DetailSection } from "../../wire/skills.ts";
import type { KnownDetail } from "../source/skill-source.ts";
import { HistoryTab } from "./runs/history-tab.tsx";
import { RunTab } from "./runs/run-tab.tsx";
import { EvalsTab } from "./tabs/evals-tab.tsx";
import { EnvironmentTab } from "./tabs/environment-tab.tsx";
import { FilesTab } from "./files/files-tab.tsx";
import { LicenseTab } from "./tabs/license-tab.tsx";
import { ManifestTab } from "./tabs/manifest-tab.tsx";
import { OverviewTab } from "./tabs/overview-tab.tsx";
import { PermissionsTab } from "./permissions/permissions-tab.tsx";
import { ProblemsTab } from "./tabs/problems-tab.tsx";

export interface TabProps {
  /** The detail of the skill. A new object replaces it when the skill changes; the tab stays mounted. */
  readonly detail: KnownDetail;
  /** The item that the URL names within the tab, such as a file. */
  readonly item: string | undefined;
  readonly openTab: (tab: string, item?: string) => void;
  /** Reads the skill again, for example after a decision. Resolves with the new detail. */
  readonly reload: () => Promise<KnownDetail | undefined>;
  /** Whether the skill was removed, so that nothing can be done with it. */
  readonly isRemoved: boolean;
}

export interface Tab {
  /** The name of the tab in the URL. */
  readonly name: string;
  readonly title: string;
  readonly Content: (props: TabProps) => JSX.Element | null;
  /** The sections of the skill's detail that the tab shows. */
  readonly sections: readonly DetailSection[];
  readonly count?: (detail: KnownDetail) => number;
}

/** The tabs of a skill, in order. The first one is the default, and the only one without a server. */
export const tabs: readonly [Tab, ...Tab[]] = [
  { name: "overview", title: "Overview", Content: OverviewTab, sections: ["overview"] },
  {
    name: "files",
    title: "Files",
    Content: FilesTab,
    sections: [],
    count: ({ files = [], filesOmitted = 0 }) => files.length + filesOmitted,
  },
  { name: "manifest", title: "Manifest", Content: ManifestTab, sections: ["manifest", "environment", "license"] },
  {
    name: "problems",
    title: "Problems",
    Content: ProblemsTab,
    sections: ["problems"],
    count: ({ row, problems }) => problems?.length ?? row.errors + row.warnings,
  },
  { name: "permissions", title: "Permissions", Content: PermissionsTab, sections: ["permissions"] },
  { name: "environment", title: "Environment", Content: EnvironmentTab, sections: ["environment"] },
  { name: "license", title: "License", Content: LicenseTab, sections: ["license"] },
  { name: "run", title: "Run", Content: RunTab, sections: ["run"] },
  { name: "history", title: "History", Content: HistoryTab, sections: [] },
  { name: "evals", title: "Evals", Content: EvalsTab, sections: [] },
];
