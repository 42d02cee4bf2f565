/** Replaces two nodes on one database by a later release, one after the other, as docs/operations/scale-out.md describes. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { createTestDatabase, type TestDatabase } from '../../../../server/test/database.ts';
import { eventually } from '../../../../server/test/eventually.ts';
import { issueForLoad } from '../../../../server/test/faults/loaded-service.ts';
import { startRecordedLoad } from '../../../../server/test/faults/recorded-load.ts';
import { verifyLedger } from '../../../../server/test/faults/verify-ledger.ts';
import {
  createServiceHome,
  type ServiceHome,
  type ServiceProcess,
} from '../../../../server/test/service-process.ts';
import {
  NEXT_VERSION,
  programOf,
  type ServicePackages,
  writePackages,
} from '../../upgrade/service-packages.ts';
import { type Balancer, startBalancer } from './balancer.ts';

/** Each with a license of its own, which is never full: any status but 200 is a failure. */
const CLIENTS = 8;

/** The load activates each license on one machine after the other. */
const CATALOG = `
key_prefix: LK
trial: { product: personal }
products:
  - id: personal
    name: Personal
    tier: personal
    max_activations: 1
    moves: { extra: 100000, days: 30 }
`;

/** The requests that a node must answer before the test goes on. */
const ANSWERS = 30;

describe('two nodes under load', () => {
  const resources = new AsyncDisposableStack();
  let packages: ServicePackages;
  let catalog: string;
  let database: TestDatabase;
  let balancer: Balancer;
  let homes: Readonly<Record<'present' | 'next', ServiceHome>>;

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-nodes-'));
    resources.defer(() => rm(directory, { recursive: true, force: true }));
    packages = await writePackages(directory);
    catalog = join(directory, 'catalog.yaml');
    await writeFile(catalog, CATALOG);
    database = await createTestDatabase();
    resources.defer(() => database.drop());
    homes = {
      present: resources.use(await createServiceHome(programOf(packages.present))),
      next: resources.use(await createServiceHome(programOf(packages.next))),
    };
    balancer = resources.use(await startBalancer());
  });
  after(() => resources.disposeAsync());

  const settings = () => ({
    DATABASE_URL: database.url,
    LATCHKEY_CATALOG: catalog,
    LATCHKEY_SECRET: 'the master secret of two nodes under load',
  });

  async function start(version: 'present' | 'next'): Promise<ServiceProcess> {
    const node = await homes[version].start(settings());
    await eventually(async () => (await fetch(`${node.url}/api/v1/health/ready`)).ok);
    balancer.add(node.url);
    return node;
  }

  /** The documented steps: no further requests, the end of those in progress, stop, start, ready, requests again. */
  async function replace(node: ServiceProcess): Promise<ServiceProcess> {
    await balancer.remove(node.url);
    assert.deepEqual(await node.stop(), { code: 0, signal: null });
    return start('next');
  }

  /** Waits until each node has answered more requests. */
  async function waitForAnswers(...nodes: readonly ServiceProcess[]): Promise<void> {
    for (const { url } of nodes) {
      const goal = balancer.countAnswers(url) + ANSWERS;
      const missing = (): string => `${balancer.countAnswers(url)} of ${goal} answers of ${url}`;
      await eventually(() => balancer.countAnswers(url) >= goal, { describe: missing });
    }
  }

  test('are replaced one after the other without a failed request', async () => {
    const [first, second] = [await start('present'), await start('present')];
    const keys = await issueForLoad(homes.present, settings());
    await using load = startRecordedLoad(async () => balancer.url, keys.slice(0, CLIENTS));
    await waitForAnswers(first, second);
    const third = await replace(first);
    await third.waitForLine(new RegExp(`"database\\.migrated".*"${packages.migration}"`));
    // The other node continues with the new schema.
    await waitForAnswers(second, third);
    const fourth = await replace(second);
    await waitForAnswers(third, fourth);
    const ledger = await load.stop();
    const failed = ledger.outcomes.filter(({ status }) => status !== 200);
    assert.deepEqual(failed, []);
    await verifyLedger(balancer.url, ledger);
    for (const { url } of [third, fourth]) {
      assert.match(
        await (await fetch(`${url}/api/v1/health/live`)).text(),
        new RegExp(NEXT_VERSION),
      );
    }
  });
});
