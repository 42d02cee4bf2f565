import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { measureDirectory } from './measure.ts';

/** A cluster that an upgrade has replaced. */
export interface KeptCluster {
  readonly path: string;
  readonly bytes: number;
}

const KEPT = /^postgres-\d{1,3}-\d{4}-\d{2}-\d{2}(?:\.\d{1,3})?(?:\.removed)?$/u;
const REMOVED = '.removed';

/** Returns the clusters that upgrades have replaced, by name. */
export async function listKeptClusters(dataDirectory: string): Promise<KeptCluster[]> {
  const names = (await readdir(dataDirectory)).filter((name) => KEPT.test(name)).sort();
  const paths = names.map((name) => join(dataDirectory, name));
  return Promise.all(paths.map(async (path) => ({ path, bytes: await measureDirectory(path) })));
}

/** Removes one; it is renamed first, so that a part of a cluster does not look like a whole one. */
export async function removeKeptCluster(path: string): Promise<void> {
  const removed = path.endsWith(REMOVED) ? path : path + REMOVED;
  if (removed !== path) await rename(path, removed);
  await rm(removed, { recursive: true, maxRetries: 5 });
}
