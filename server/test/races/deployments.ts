import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';

import {
  startTestService,
  TEST_ISSUER,
  TEST_MASTER_SECRET,
  type TestService,
  type TestServiceOptions,
} from '../harness.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { openBrowser, browse, type Browser } from '../operator-steps.ts';
import { createServiceHome, type ServiceProcess, type Settings } from '../service-process.ts';
import { CATALOG } from '../test-catalog.ts';
import { createTestClock } from '../test-clock.ts';
import { waitForBothWorkers } from '../workers/both-workers.ts';
import { lacksWorkers } from '../workers/lacks-workers.ts';
import { roundRobin } from './concurrency.ts';

/** Set by `npm run test:workers`: requests go to two workers of one service. */
const WORKERS_VARIABLE = 'LATCHKEY_TEST_WORKERS';

/** Where the requests of a test go. */
export interface Deployment {
  readonly name: string;
  readonly pick: (index: number) => HttpClient;
}

export interface Deployments {
  /** In this process, for what a test needs beside the interface. */
  readonly one: TestService;
  /** Another process on the same database, simulated by connections and a context of its own. */
  readonly two: TestService;
  readonly deployments: readonly Deployment[];
  /** That of two processes or workers. */
  readonly pick: Deployment['pick'];
  /** Whether requests go to workers, which have the clock of the system. */
  readonly isOfWorkers: boolean;
  /** The time of the processes. */
  readonly now: () => Date;
  /** Lets each process read the signing keys, as it does once a minute. */
  reload(): Promise<void>;
}

/**
 * Starts the services of a test file, which end with it.
 * @param settings of the workers, in addition to those that correspond to a test service
 * @param own the same for the services in this process
 */
export async function openDeployments(
  settings: Settings = {},
  own: Pick<TestServiceOptions, 'mail'> = {},
): Promise<Deployments> {
  const isOfWorkers = process.env[WORKERS_VARIABLE] !== undefined && lacksWorkers === false;
  // Workers have the clock of the system.
  const one = await startTestService({
    ...own,
    ...(isOfWorkers ? { clock: createTestClock(new Date()) } : {}),
  });
  const two = await startTestService({ ...own, beside: one });
  if (isOfWorkers) {
    const { service, pick } = await startWorkers(one, settings);
    const deployments = [{ name: 'two workers of one service', pick }];
    return {
      one,
      two,
      deployments,
      pick,
      isOfWorkers,
      now: () => new Date(),
      reload: async () => service.send('SIGHUP'),
    };
  }
  const pick = roundRobin<HttpClient>([one, two]);
  const deployments = [
    { name: 'one process', pick: () => one },
    { name: 'two processes on one database', pick },
  ];
  const rings = [one.context.signingKeys, two.context.signingKeys];
  const reload = async (): Promise<void> => {
    await Promise.all(rings.map((ring) => ring.refresh()));
  };
  return { one, two, deployments, pick, isOfWorkers, now: () => one.clock.now(), reload };
}

/** Signs an operator in, and returns a browser with this session for the process of each request. */
export async function openBrowsers({
  one,
  pick,
}: Pick<Deployments, 'one' | 'pick'>): Promise<(index: number) => Browser> {
  const { cookie, email, operatorId: id } = await openBrowser(one);
  return (index) => browse(pick(index), { id, email }, cookie);
}

/** Starts two workers on the database of a service; concurrent requests use several connections, which reach both. */
async function startWorkers(
  { database }: TestService,
  more: Settings,
): Promise<{ readonly service: ServiceProcess; readonly pick: Deployment['pick'] }> {
  const home = await createServiceHome();
  after(() => home[Symbol.asyncDispose]());
  const catalog = join(home.directory, 'catalog.yaml');
  await writeFile(catalog, CATALOG);
  const settings = {
    DATABASE_URL: database.url,
    LATCHKEY_SECRET: TEST_MASTER_SECRET,
    LATCHKEY_PUBLIC_URL: TEST_ISSUER,
    LATCHKEY_CATALOG: catalog,
    ...more,
  };
  const service = await home.start(settings, ['--workers', '2']);
  await waitForBothWorkers(service);
  const client = createHttpClient(service.url);
  return { service, pick: () => client };
}
