import { readText } from './small-file.ts';

/**
 * Reads os-release(5).
 * @param paths where it may be; the first existing file is read
 * @returns the fields, without quotes around their values
 */
export function readOsRelease(paths: readonly string[]): ReadonlyMap<string, string> {
  const text = paths.map(readText).find((each) => each !== null) ?? '';
  const lines = text.matchAll(/^(?<name>[A-Z_]+)=(?<quote>["']?)(?<value>.*)\k<quote>\s*$/gmu);
  return new Map(
    Array.from(lines, ({ groups }) => [groups?.['name'] ?? '', (groups?.['value'] ?? '').trim()]),
  );
}
