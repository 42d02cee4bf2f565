import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { execute, openTestCluster, TEST_CLUSTER_VARIABLE, withDatabase } from './test-cluster.ts';

/** A database of a test file's own, migrated and empty. */
export interface TestDatabase {
  readonly url: string;
  /** As `createPool` takes it. */
  readonly connection: { readonly url: string };
  /** Removes it, with whoever is still connected. */
  drop(): Promise<void>;
}

let cluster: Promise<{ url: string; template: string }> | undefined;

/**
 * Makes a database, a copy of the migrated template, in some 30 ms. Under `npm test` on the cluster of the whole run;
 * in a test file that is run by itself on a cluster of its own, which ends with the file.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  cluster ??= findCluster() ?? startCluster();
  const { url: server, template } = await cluster;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await execute(server, `create database ${name} template ${template} strategy wal_log`);
  const url = withDatabase(server, name);
  return {
    url,
    connection: { url },
    drop: () => execute(server, `drop database if exists ${name} with (force)`),
  };
}

function findCluster(): Promise<{ url: string; template: string }> | undefined {
  const [template, url] = (process.env[TEST_CLUSTER_VARIABLE] ?? '').split(' ', 2);
  return template && url ? Promise.resolve({ url, template }) : undefined;
}

async function startCluster(): Promise<{ url: string; template: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  const own = await openTestCluster(directory);
  // When nothing is left to do: later than every hook of the file.
  process.once('beforeExit', () => {
    void own[Symbol.asyncDispose]().then(() => rm(directory, { recursive: true, force: true }));
  });
  return own;
}
