import type { NameFilter } from './judge-events.ts';

/**
 * Makes a filter of patterns in which `*` stands for any number of characters, all else for itself. No patterns: all names
 * are wanted.
 */
export function createNameFilter(patterns: readonly string[]): NameFilter {
  if (patterns.length === 0) return () => true;
  const alternatives = patterns.map((pattern) => {
    const pieces = pattern.split('*').map((piece) => RegExp.escape(piece));
    return pieces.join('.*');
  });
  const expression = new RegExp(`^(?:${alternatives.join('|')})$`, 'su');
  return (name) => expression.test(name);
}
