/** The name of the caller that is this machine's user: its blobs and approvals are those of the command line. */
export const localCaller = "local";
