/** Whether the first version is older than the second, by the rules of semver.org; install.sh has the same. */
export function isOlder(one: string, other: string): boolean {
  const [a, b] = [parse(one), parse(other)];
  const core = compareLists(a.core, b.core);
  if (core !== 0) return core < 0;
  // A version without a pre-release is newer than those with one.
  if (a.early === null || b.early === null) return a.early !== null && b.early === null;
  return compareLists(a.early, b.early) < 0;
}

interface Version {
  readonly core: readonly string[];
  /** The identifiers of a pre-release, such as `rc` and `1`. */
  readonly early: readonly string[] | null;
}

/** The metadata of a build, behind a plus sign, does not count. */
function parse(text: string): Version {
  const [, core = '', early] = /^([^-+]*)(?:-([^+]*))?/u.exec(text) ?? [];
  return { core: core.split('.'), early: early?.split('.') ?? null };
}

function compareLists(one: readonly string[], other: readonly string[]): number {
  for (const [index, identifier] of one.entries()) {
    const theirs = other[index];
    if (theirs === undefined) return 1;
    const order = compareIdentifiers(identifier, theirs);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** Numbers are older than words. */
function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOther] = [/^\d+$/u.test(one), /^\d+$/u.test(other)];
  if (isNumber && isOther) return Number(one) - Number(other);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}
