/** `GET /api/sources`: what is installed from elsewhere. */
export interface SourceList {
  readonly installed: readonly {
    /** Canonical name. */
    readonly name: string;
    readonly source: string;
    readonly digest: string;
    readonly directory: string;
    /** Whether the files are those of the lock. */
    readonly state: "verified" | "modified" | "missing";
  }[];
}

/** `POST /api/sources/discover` `{source}`. */
export interface Discovered {
  readonly source: string;
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly version?: string;
    readonly isInstalled: boolean;
  }[];
  /** What could not be read. */
  readonly problems: readonly string[];
}

/**
 * What would be installed or updated: `POST /api/sources/plan` `{source, names}` to install, `{update: [names]}` to update. Nothing is written until
 * `POST /api/sources/apply` `{plan, nonce}`.
 */
export interface SourcePlan {
  readonly plan: string;
  readonly nonce: string;
  readonly changes: readonly {
    readonly name: string;
    readonly action: "install" | "update" | "none";
    readonly from?: string;
    readonly to?: string;
    /** What it wants beyond the installed version, in words; of a new one, all that it wants. */
    readonly widened: readonly string[];
    readonly files: readonly { readonly path: string; readonly diff?: string }[];
    /** Why it cannot be done. */
    readonly refused?: string;
  }[];
}
