// The floor of a proxy in a chain: returns all bytes.
process.stdin.pipe(process.stdout);
