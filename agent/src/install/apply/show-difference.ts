/** So many lines around what differs are shown. */
const CONTEXT_LINES = 2;

/** Texts that differ in more are shown as a whole, the old one and the new one: it would take seconds to align them. */
const MAX_CELLS = 4_000_000;

type Sign = ' ' | '+' | '-';

interface Line {
  readonly sign: Sign;
  readonly text: string;
}

/** What differs between two texts, with the lines around it: those that go with `-`, those that come with `+`. */
export function showDifference(before: string, after: string): string[] {
  const lines = align(before.split('\n'), after.split('\n'));
  const isNear = (at: number): boolean =>
    lines
      .slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1)
      .some(({ sign }) => sign !== ' ');
  return lines.flatMap(({ sign, text }, at) => {
    if (isNear(at)) return [`${sign} ${text}`];
    return isNear(at - 1) && lines.slice(at).some((line) => line.sign !== ' ') ? ['  …'] : [];
  });
}

function align(old: readonly string[], next: readonly string[]): Line[] {
  const start = countEqual(old, next);
  const rest = Math.min(old.length, next.length) - start;
  const end = Math.min(rest, countEqual(old.toReversed(), next.toReversed()));
  return [
    ...mark(' ', old.slice(0, start)),
    ...alignParts(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...mark(' ', next.slice(next.length - end)),
  ];
}

function countEqual(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((line, index) => line !== other[index]);
  return at === -1 ? one.length : at;
}

/** Keeps as many lines as there can be in the order of both: a longest common subsequence. */
function alignParts(old: readonly string[], next: readonly string[]): Line[] {
  if (old.length * next.length > MAX_CELLS) return [...mark('-', old), ...mark('+', next)];
  const countFrom = countCommon(old, next);
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < next.length) {
    const [gone = '', come = ''] = [old[row], next[column]];
    if (gone === come) {
      lines.push({ sign: ' ', text: gone });
      row += 1;
      column += 1;
    } else if (countFrom(row + 1, column) >= countFrom(row, column + 1)) {
      lines.push({ sign: '-', text: gone });
      row += 1;
    } else {
      lines.push({ sign: '+', text: come });
      column += 1;
    }
  }
  return [...lines, ...mark('-', old.slice(row)), ...mark('+', next.slice(column))];
}

/** How many lines two texts have in common, in their order, from a place in each. */
function countCommon(
  old: readonly string[],
  next: readonly string[],
): (row: number, column: number) => number {
  const width = next.length + 1;
  const counts = new Uint32Array((old.length + 1) * width);
  const countFrom = (row: number, column: number): number => counts[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = next.length - 1; column >= 0; column -= 1) {
      counts[row * width + column] =
        old[row] === next[column]
          ? countFrom(row + 1, column + 1) + 1
          : Math.max(countFrom(row + 1, column), countFrom(row, column + 1));
    }
  }
  return countFrom;
}

function mark(sign: Sign, lines: readonly string[]): Line[] {
  return lines.map((text) => ({ sign, text }));
}
