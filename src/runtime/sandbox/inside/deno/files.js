/**
 * Read-only and size-limited directories of Pyodide's file system. It is in the run's own memory: a program that removes these limits
 * from JavaScript harms only itself.
 */

const NODE_LIMIT = 20_000;
const EROFS = 69;
const ENOSPC = 51;

/** Mounts a directory for at most `limit` bytes. */
export function mountLimited(FS, path, limit) {
  const used = { bytes: 0, nodes: 0 };
  const charge = (bytes, nodes) => {
    if (bytes > 0 && used.bytes + bytes > limit) throw new FS.ErrnoError(ENOSPC);
    if (nodes > 0 && used.nodes + nodes > NODE_LIMIT) throw new FS.ErrnoError(ENOSPC);
    used.bytes += bytes;
    used.nodes += nodes;
  };
  const adopt = (node) => {
    if (node.contents === undefined && node.link === undefined) return node;
    node.node_ops = limitedNode(FS, node.node_ops, charge, adopt);
    node.stream_ops = limitedStream(node.stream_ops, charge);
    return node;
  };
  FS.mkdirTree(path);
  FS.mount({ mount: (mount) => adopt(FS.filesystems.MEMFS.mount(mount)) }, {}, path);
}

function limitedNode(FS, original, charge, adopt) {
  const limited = { ...original };
  limited.setattr = (node, attributes) => {
    if (attributes.size !== undefined) charge(attributes.size - node.usedBytes, 0);
    original.setattr(node, attributes);
  };
  if (original.mknod === undefined) return limited;
  limited.mknod = (parent, name, mode, device) => {
    charge(0, 1);
    return adopt(original.mknod(parent, name, mode, device));
  };
  limited.symlink = (parent, name, target) => {
    charge(0, 1);
    return adopt(original.symlink(parent, name, target));
  };
  limited.unlink = (parent, name) => {
    const size = parent.contents[name]?.usedBytes ?? 0;
    original.unlink(parent, name);
    charge(-size, -1);
  };
  limited.rmdir = (parent, name) => {
    original.rmdir(parent, name);
    charge(0, -1);
  };
  limited.rename = (node, parent, name) => {
    const replaced = parent.contents[name];
    original.rename(node, parent, name);
    if (replaced !== undefined && replaced !== node) charge(-(replaced.usedBytes ?? 0), -1);
  };
  return limited;
}

function limitedStream(original, charge) {
  if (original.write === undefined) return original;
  const write = (stream, buffer, offset, length, position, canOwn) => {
    charge(Math.max(0, position + length - stream.node.usedBytes), 0);
    return original.write(stream, buffer, offset, length, position, canOwn);
  };
  const msync = (stream, buffer, offset, length) => {
    write(stream, buffer, 0, length, offset, false);
    return 0;
  };
  return { ...original, write, msync };
}

/** Pyodide creates this one temporarily to print an exception. */
const PASSING_DEVICE = "capture_stderr";

/** Makes a directory tree read-only, except mounts below it and devices. */
export function freeze(FS, path) {
  const refuse = () => {
    throw new FS.ErrnoError(EROFS);
  };
  const unlessPassing = (change) => (parent, name, mode, device) =>
    name === PASSING_DEVICE && (mode === undefined || FS.isChrdev(mode))
      ? change(parent, name, mode, device)
      : refuse();
  const freezeNode = (node) => {
    const original = node.node_ops;
    node.node_ops = { ...original };
    for (const name of ["setattr", "rename", "rmdir", "symlink"]) node.node_ops[name] &&= refuse;
    for (const name of ["mknod", "unlink"]) node.node_ops[name] &&= unlessPassing(original[name]);
    if (FS.isFile(node.mode)) node.stream_ops = { ...node.stream_ops, write: refuse, msync: refuse };
    if (FS.isDir(node.mode)) Object.values(node.contents).forEach(freezeNode);
  };
  freezeNode(FS.lookupPath(path).node);
}

/** Writes a file and creates its parent directories. */
export function layFile(FS, path, content, mode) {
  FS.mkdirTree(path.slice(0, path.lastIndexOf("/")) || "/");
  FS.writeFile(path, content, { canOwn: true });
  FS.chmod(path, mode);
}

const LONGEST_PATH = 4096;

/**
 * Calls `take(path, bytes)` for every regular file below a directory until it returns false, and `skip(path, why)` for other files.
 * Iterative, because a tree may be deeper than the stack.
 */
export function collect(FS, directory, take, skip) {
  const left = [""];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const path = at === "" ? directory : `${directory}/${at}`;
    const { mode } = FS.lstat(path);
    if (at.length > LONGEST_PATH) skip(`${at.slice(0, 100)}…`, "its name is too long");
    else if (FS.isDir(mode)) {
      const names = FS.readdir(path).filter((name) => name !== "." && name !== "..");
      for (const name of names.sort().reverse()) left.push(at === "" ? name : `${at}/${name}`);
    } else if (!FS.isFile(mode)) skip(at, FS.isLink(mode) ? "it is a symbolic link" : "it is not a regular file");
    else if (at.includes("\ufffd") || !at.isWellFormed()) skip(at, "its name is not UTF-8");
    else if (!take(at, FS.readFile(path))) return;
  }
}
