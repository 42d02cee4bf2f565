import type { NameFilter } from './judge-events.ts';

/**
 * Makes a filter of patterns in which `*` stands for any number of characters, all else for itself. No patterns: all names
 * are wanted. Names come from strangers: a name is looked through once for each pattern, where a regular expression with a
 * few stars would try every way to spread it over them, and take seconds.
 */
export function createNameFilter(patterns: readonly string[]): NameFilter {
  if (patterns.length === 0) return () => true;
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const filters = patterns.filter((pattern) => pattern.includes('*')).map(createPatternFilter);
  return (name) => names.has(name) || filters.some((fits) => fits(name));
}

function createPatternFilter(pattern: string): NameFilter {
  const [first = '', ...pieces] = pattern.split('*');
  const last = pieces.pop() ?? '';
  return (name) => {
    if (!name.startsWith(first)) return false;
    let end = first.length;
    for (const piece of pieces) {
      const found = name.indexOf(piece, end);
      if (found === -1) return false;
      end = found + piece.length;
    }
    return name.length - last.length >= end && name.endsWith(last);
  };
}
