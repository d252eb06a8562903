// The floor of a proxy in a chain: cuts the envelopes of notifications off by their length, and returns all other bytes.
const head = '{"jsonrpc":"2.0","method":"proxy/successor","params":{';
let rest = "";

process.stdin.on("data", (/** @type {Buffer} */ chunk) => {
  const text = rest + chunk.toString("latin1");
  const pieces = [];
  let from = 0;
  for (let to = text.indexOf("\n") + 1; to > 0; to = text.indexOf("\n", from) + 1) {
    if (text.startsWith(head, from)) pieces.push('{"jsonrpc":"2.0",', text.slice(from + head.length, to - 2), "\n");
    else pieces.push(text.slice(from, to));
    from = to;
  }
  rest = text.slice(from);
  process.stdout.write(Buffer.from(pieces.join(""), "latin1"));
});
