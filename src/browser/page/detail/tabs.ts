import type { JSX } from "preact";
import type { KnownDetail } from "../source/skill-source.ts";
import { HistoryTab } from "./runs/history-tab.tsx";
import { RunTab } from "./runs/run-tab.tsx";
import { EnvironmentTab } from "./tabs/environment-tab.tsx";
import { FilesTab } from "./files/files-tab.tsx";
import { LicenseTab } from "./tabs/license-tab.tsx";
import { ManifestTab } from "./tabs/manifest-tab.tsx";
import { OverviewTab } from "./tabs/overview-tab.tsx";
import { PermissionsTab } from "./permissions/permissions-tab.tsx";
import { ProblemsTab } from "./tabs/problems-tab.tsx";

export interface TabProps {
  /** Replaced whole when the skill changes; the tab stays mounted. */
  readonly detail: KnownDetail;
  /** What the URL names within the tab, such as a file. */
  readonly item: string | undefined;
  readonly openTab: (tab: string, item?: string) => void;
  /** Reads the skill again, as after a decision; resolves with what is then known. */
  readonly reload: () => Promise<KnownDetail | undefined>;
  /** The skill is gone: nothing can be done with it any more. */
  readonly isRemoved: boolean;
}

export interface Tab {
  /** The name in the URL. */
  readonly name: string;
  readonly title: string;
  readonly Content: (props: TabProps) => JSX.Element | null;
  /** Whether the source knows enough for it. */
  readonly isKnown: (detail: KnownDetail) => boolean;
  readonly count?: (detail: KnownDetail) => number;
}

/** The tabs of a skill, in order. The first is shown when the URL names none. */
export const tabs: readonly Tab[] = [
  { name: "overview", title: "Overview", Content: OverviewTab, isKnown: () => true },
  {
    name: "files",
    title: "Files",
    Content: FilesTab,
    isKnown: ({ files }) => files !== undefined,
    count: ({ files = [], filesOmitted = 0 }) => files.length + filesOmitted,
  },
  {
    name: "manifest",
    title: "Manifest",
    Content: ManifestTab,
    isKnown: ({ frontmatter }) => frontmatter !== undefined,
  },
  {
    name: "problems",
    title: "Problems",
    Content: ProblemsTab,
    isKnown: ({ problems }) => problems !== undefined,
    count: ({ problems = [] }) => problems.length,
  },
  {
    name: "permissions",
    title: "Permissions",
    Content: PermissionsTab,
    isKnown: ({ permissions }) => permissions !== undefined,
  },
  {
    name: "environment",
    title: "Environment",
    Content: EnvironmentTab,
    isKnown: ({ environment }) => environment !== undefined,
  },
  { name: "license", title: "License", Content: LicenseTab, isKnown: ({ license }) => license !== undefined },
  { name: "run", title: "Run", Content: RunTab, isKnown: ({ inputs }) => inputs !== undefined },
  { name: "history", title: "History", Content: HistoryTab, isKnown: ({ inputs }) => inputs !== undefined },
];
