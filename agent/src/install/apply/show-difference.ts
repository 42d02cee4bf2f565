/** So many lines around what differs are shown. */
const CONTEXT_LINES = 2;

/** What differs between two texts, with the lines around it: those that go with `-`, those that come with `+`. */
export function showDifference(before: string, after: string): string[] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  const start = countEqual(old, next);
  const rest = Math.min(old.length, next.length) - start;
  const end = Math.min(rest, countEqual(old.toReversed(), next.toReversed()));
  return [
    ...mark(' ', old.slice(Math.max(0, start - CONTEXT_LINES), start)),
    ...mark('-', old.slice(start, old.length - end)),
    ...mark('+', next.slice(start, next.length - end)),
    ...mark(' ', next.slice(next.length - end).slice(0, CONTEXT_LINES)),
  ];
}

function countEqual(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((line, index) => line !== other[index]);
  return at === -1 ? one.length : at;
}

function mark(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${sign} ${line}`);
}
