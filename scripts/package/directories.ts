import type { TarEntry } from '../../agent/src/system/tar.ts';

/** Returns the entries below `./`, each after its directory. */
export function withDirectories(entries: readonly TarEntry[]): TarEntry[] {
  const own = new Set(entries.map(({ path }) => `./${path}`));
  const directories = new Set(['./']);
  for (const { path } of entries) {
    const parts = path.split('/').slice(0, -1);
    for (const index of parts.keys()) directories.add(`./${parts.slice(0, index + 1).join('/')}/`);
  }
  const all = [
    ...[...directories.difference(own)].map((path) => ({
      path,
      mode: 0o755,
      content: Buffer.alloc(0),
    })),
    ...entries.map((entry) => ({ ...entry, path: `./${entry.path}` })),
  ];
  return all.sort((a, b) => (a.path < b.path ? -1 : 1));
}
