import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { codeOf } from '#server/lib/unknown-values.ts';

import {
  eachServer,
  execute,
  openTestCluster,
  TEST_CLUSTER_VARIABLE,
  withDatabase,
  type TestCluster,
} from './test-cluster.ts';

/** For `createPool`, except where a test is about this limit: a busy machine may take seconds. */
export const TEST_CONNECT_TIMEOUT_MS = 60_000;

/** A migrated, empty database for one test file. */
export interface TestDatabase {
  readonly url: string;
  /** The options of `createPool`. */
  readonly connection: { readonly url: string };
  /** Drops the database and closes its connections. */
  drop(): Promise<void>;
}

let cluster: Promise<Pick<TestCluster, 'urls' | 'template'>> | undefined;

/**
 * Creates a database as a copy of the migrated template, in some 30 ms (60 with `strategy wal_log`): on the cluster of the run under `npm test`,
 * else on a cluster that ends with the test file.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  cluster ??= findCluster() ?? startCluster();
  const { urls, template } = await cluster;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const create = `create database ${name} template ${template} strategy file_copy`;
  await eachServer(urls, (server) => execute(server, create));
  const url = withDatabase(urls[0] ?? '', name);
  return {
    url,
    connection: { url },
    drop: () => eachServer(urls, (server) => dropDatabase(server, name)),
  };
}

function findCluster(): typeof cluster {
  const [template, ...urls] = (process.env[TEST_CLUSTER_VARIABLE] ?? '').split(' ');
  return template && urls.length > 0 ? Promise.resolve({ urls, template }) : undefined;
}

async function startCluster(): Promise<TestCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  const started = await openTestCluster(directory);
  // Runs after all hooks of the file.
  process.once('beforeExit', () => {
    void started[Symbol.asyncDispose]().then(() => rm(directory, { recursive: true, force: true }));
  });
  return started;
}

/** Each failed try waits for five seconds in PostgreSQL. */
const MAX_TRIES = 10;

/** Drops a database, also while the maintenance process of Citus, which the server restarts at once, is in it. */
async function dropDatabase(server: string, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await execute(server, `drop database if exists ${name} with (force)`);
    } catch (error) {
      if (codeOf(error) !== '55006' || tries >= MAX_TRIES) throw error;
      await execute(server, `alter database ${name} with allow_connections false`);
    }
  }
}
