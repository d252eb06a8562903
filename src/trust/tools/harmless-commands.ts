import type { CommandWord } from "./command-words.ts";

/** Options of everything in git that shows changes. No `--output`, `--ext-diff` and `--textconv`. */
const changes =
  "npsuwbzmcSGLMCUi --oneline --stat --shortstat --numstat --graph --all --decorate --author --since --until --after --before --grep --follow --format --pretty --date --name-only --name-status --reverse --merges --no-merges --first-parent --patch --no-patch --abbrev-commit --max-count --cached --staged --color --no-color --word-diff --summary --branches --tags --remotes --left-right --cherry-pick --relative --unified --ignore-all-space --diff-filter --check --quiet --exit-code --merge-base";
const ofGitHub = "LslaASHBq --limit --state --label --author --assignee --search --json --jq --base --head";
const search =
  "niIlLwxcvFSstgTABCoUPuHpe --files --type --type-not --glob --iglob --hidden --no-ignore --ignore-case --smart-case --count --json --max-count --max-depth --line-number --no-heading --files-with-matches --fixed-strings --word-regexp --multiline --only-matching --context --color --heading --stats";
const files =
  "etHIdgaisEpu --extension --type --hidden --no-ignore --max-depth --min-depth --exclude --glob --full-path --color";

/**
 * Commands that start no program of a model's choice and write at most to the repository's objects and index, or create what is empty,
 * whatever words follow that are no options; with their options of which this is known: letters, which may stand together, then words.
 * What is not here is asked: most programs can run others, or write files that others run, by an argument.
 */
const known: Readonly<Record<string, string>> = {
  "git status": "sbuv --short --branch --porcelain --untracked-files --ignored --long --show-stash",
  "git log": changes,
  "git diff": changes,
  "git show": changes,
  "git stash list": changes,
  "git shortlog": "nse --summary --numbered --email --since --until --no-merges",
  "git reflog show": "n --oneline --all --date",
  "git blame": "LwMCse --date --porcelain",
  "git grep": "niIlLwEFPchvqeABC --cached --line-number --ignore-case --count --name-only --all-match --and --or --not",
  "git ls-files": "comdszt --cached --others --modified --deleted --exclude-standard --stage --full-name",
  "git ls-tree": "rdtlz --name-only --full-tree --long",
  "git rev-parse":
    "q --abbrev-ref --short --verify --show-toplevel --git-dir --is-inside-work-tree --symbolic-full-name",
  "git rev-list": "n --count --all --max-count --since --until --merges --no-merges --left-right --reverse",
  "git describe": " --tags --all --always --abbrev --dirty --long --match --exact-match",
  "git merge-base": "a --all --is-ancestor --fork-point",
  "git cat-file": "pte",
  "git branch":
    "avr --list --show-current --all --remotes --merged --no-merged --contains --sort --format --verbose --points-at",
  "git tag": "ln --list --sort --format --contains --points-at --merged",
  "git remote": "v --verbose",
  "git config --get": "",
  "git worktree list": " --porcelain",
  "git add": "Aunv --all --update --dry-run --verbose --intent-to-add",
  "git commit": "amsq --message --all --signoff --quiet --amend --no-edit --allow-empty --dry-run",
  "git fetch": "p --all --prune --tags --dry-run",
  "gh issue list": ofGitHub,
  "gh pr list": ofGitHub,
  "gh run list": ofGitHub,
  cat: "AbeEnstTuv",
  cmp: "bls",
  cut: "dfcbs --delimiter --fields --characters --complement",
  date: "uIRd --utc --date --iso-8601 --rfc-3339",
  df: "hTik",
  diff: "urNqwbBiyaEU --brief --unified --recursive --side-by-side --ignore-all-space --color --new-file",
  dirname: "",
  basename: "as",
  du: "shacdk --max-depth --summarize --human-readable --total",
  echo: "neE",
  fd: files,
  fdfind: files,
  file: "bi --brief --mime --mime-type",
  find: " -name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -not -o -a -or -and -print -print0 -prune -regex -iregex -perm -user",
  grep: "rRniIlLwxcvEFPohHsqeABCma --include --exclude --exclude-dir --color --line-number --recursive --ignore-case --files-with-matches --files-without-match --count --max-count --context --fixed-strings --extended-regexp --perl-regexp --only-matching --word-regexp --invert-match --no-messages",
  head: "ncqv --lines --bytes --quiet",
  id: "ungGr",
  jq: "nrceSsMCaj --raw-output --compact-output --slurp --null-input --exit-status --sort-keys --arg --argjson",
  ls: "aAlhRtrSdFisngokpcu --all --almost-all --color --human-readable --recursive --reverse --sort --time-style --group-directories-first",
  md5sum: "",
  mkdir: "pvm --parents --mode --verbose",
  pwd: "LP",
  readlink: "fenm --canonicalize",
  realpath: "esmq --relative-to --relative-base",
  rg: search,
  sha256sum: "",
  sort: "nrufkthbdVgsMc --numeric-sort --reverse --unique --key --field-separator --human-numeric-sort --version-sort",
  stat: "cfLt --format --printf",
  tail: "ncqv --lines --bytes --quiet",
  touch: "acmtdr --no-create --date --reference",
  tr: "dscC --delete --squeeze-repeats --complement",
  tree: "adLIPfhi --dirsfirst --noreport --gitignore",
  uname: "asrmpnov",
  wc: "lwcmL --lines --words --bytes --chars",
  which: "a",
  whoami: "",
};
/** A word that is no option could be a command of another kind, a place with hooks, or a transport. */
const withoutOperands: ReadonlySet<string> = new Set(["git remote", "git fetch"]);

const commands = Object.entries(known).map(([name, text]) => {
  const [letters = "", ...options] = text.split(" ");
  return { words: name.split(" "), letters, options: new Set(options), hasOperands: !withoutOperands.has(name) };
});
type KnownCommand = (typeof commands)[number];

/** Whether this is a known command with only harmless options. No file's name can make an option of a wildcard in it. */
export function isHarmless(words: readonly CommandWord[]): boolean {
  return commands.some(
    (command) =>
      command.words.every((expected, place) => words[place]?.value === expected) &&
      words.slice(command.words.length).every((word) => isHarmlessWord(word, command)),
  );
}

/** Whether a command that begins with these words can be harmless; undefined stands for any word. */
export function canBeHarmless(words: readonly (string | undefined)[]): boolean {
  return commands.some((command) =>
    words.every((value, place) => {
      const expected = command.words[place];
      if (value === undefined || value === expected) return true;
      return expected === undefined && isHarmlessWord({ value, isGlob: false }, command);
    }),
  );
}

function isHarmlessWord({ value, isGlob }: CommandWord, { letters, options, hasOperands }: KnownCommand): boolean {
  if (isGlob && /^[*?-]/.test(value)) return false;
  if (value === "--") return true;
  if (!value.startsWith("-") || value === "-") return hasOperands;
  const [name = ""] = value.split("=", 1);
  if (options.has(value.startsWith("--") ? name : value)) return true;
  const [, together] = /^-([A-Za-z]*)[0-9]*$/.exec(value) ?? [];
  return together !== undefined && Array.from(together).every((letter) => letters.includes(letter));
}
