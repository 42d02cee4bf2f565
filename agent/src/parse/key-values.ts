import { Scanner } from './scanner.ts';

/**
 * Reads lines of a name and a number: /proc/meminfo (`MemTotal:  1000 kB`, given in bytes), /proc/vmstat, cpu.stat and
 * memory.stat of a control group.
 * @param wanted the names to look for, without their colon; the rest costs almost nothing
 */
export function parseKeyValues<Name extends string>(
  bytes: Buffer,
  wanted: ReadonlyMap<string, Name>,
): Map<Name, number> {
  const found = new Map<Name, number>();
  const scanner = new Scanner(bytes);
  while (!scanner.isAtEnd() && found.size < wanted.size) {
    const word = scanner.readWord();
    const name = wanted.get(word.endsWith(':') ? word.slice(0, -1) : word);
    if (name !== undefined) {
      const value = scanner.readNumber();
      if (!Number.isNaN(value)) found.set(name, scanner.readWord() === 'kB' ? value * 1024 : value);
    }
    scanner.skipLine();
  }
  return found;
}

/** Names to look for with `parseKeyValues`. */
export function keys<const Names extends readonly string[]>(
  ...names: Names
): ReadonlyMap<string, Names[number]> {
  return new Map(names.map((name) => [name, name]));
}
