/** A skill in a list that a model reads, in characters. */
export interface ListedSkill {
  readonly id: string;
  readonly name: number;
  readonly description: number;
}

/** What an agent does with its list, by its published limits. */
export interface ListLimits {
  /** Characters of one description. */
  readonly description?: number;
  /** Characters of names and descriptions together. */
  readonly total?: number;
  /** Whether it leaves skills out where names alone are too much. */
  readonly omits: boolean;
}

export interface CutList {
  readonly truncated: readonly string[];
  readonly omitted: readonly string[];
}

/**
 * Which descriptions are cut, and which skills left out. Where all together are too long, descriptions are shortened to one length that
 * fits: an agent that prefers skills that are used often cuts others, but about as many.
 */
export function cutDescriptions(skills: readonly ListedSkill[], { description, total, omits }: ListLimits): CutList {
  const capped = skills.map((skill) => Math.min(skill.description, description ?? Infinity));
  const names = sum(skills.map(({ name }) => name));
  const left = (total ?? Infinity) - names;
  const length = left >= sum(capped) ? Infinity : fittingLength(capped, Math.max(0, left));
  const omitted = omits && left < 0 ? tooMany(skills, total ?? Infinity) : [];
  const gone = new Set(omitted);
  return {
    truncated: skills
      .filter(({ id, description: all }) => !gone.has(id) && all > Math.min(length, description ?? Infinity))
      .map(({ id }) => id),
    omitted,
  };
}

/** The greatest length to which all can be cut so that together they are at most `room`. */
function fittingLength(lengths: readonly number[], room: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = room;
  for (const [at, length] of sorted.entries()) {
    const share = left / (sorted.length - at);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Infinity;
}

/** The skills after the last one whose name fits. */
function tooMany(skills: readonly ListedSkill[], total: number): readonly string[] {
  let used = 0;
  return skills
    .filter(({ name }) => {
      used += name;
      return used > total;
    })
    .map(({ id }) => id);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
