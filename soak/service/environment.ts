/** Everything around the load of a run: directory, disk, service, database, relay and provider. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { createApiKey } from '#server/features/api-keys/manage.ts';

import { seedDataDirectory } from '../../bench/lib/processes.ts';
import { BILLING_SECRET } from '../../bench/lib/purchases.ts';
import { findFreePort } from '../../server/test/ports.ts';
import type { SoakOptions } from '../options.ts';
import { openDatabase } from './database.ts';
import { openDisk, type Disk } from './disk.ts';
import { startProvider, type Provider } from './provider.ts';
import { startRelay, type OnMail, type Relay } from './relay.ts';
import { Service } from './service.ts';

export interface Environment extends AsyncDisposable {
  readonly home: string;
  readonly dataDirectory: string;
  readonly logFile: string;
  readonly disk: Disk;
  readonly service: Service;
  readonly pool: Pool;
  readonly relay: Relay;
  readonly provider: Provider;
  readonly port: number;
  readonly masterSecret: string;
  readonly metricsToken: string;
  /** An API key with all rights. */
  readonly apiKey: string;
}

interface EnvironmentEvents {
  /** For each recipient of a message that the relay accepted. */
  readonly onMail: OnMail;
  /** The service ended although nothing stopped it. */
  readonly onUnexpectedEnd: (end: string) => void;
  readonly report: (line: string) => void;
}

/** Creates and fills a directory, and starts everything. Disposing stops and removes it. */
export async function openEnvironment(
  options: SoakOptions,
  { onMail, onUnexpectedEnd, report }: EnvironmentEvents,
): Promise<Environment> {
  await using resources = new AsyncDisposableStack();
  const home = await createHome(resources);
  const disk = await openDisk(home, options.faults.length > 0);
  resources.defer(() => disk.close());
  const dataDirectory = join(disk.directory, 'data');
  const secrets = createSecrets();
  report(`activating ${options.machines} machines`);
  await seedDataDirectory(dataDirectory, options.machines, {
    LATCHKEY_SECRET: secrets.masterSecret,
  });

  const relay = await startRelay(await findFreePort(), onMail);
  resources.defer(() => relay.stop());
  const provider = await startProvider(await findFreePort());
  resources.defer(() => provider.stop());
  const port = await findFreePort();
  const logFile = join(home, 'service.log');
  const settings = {
    ...describeSettings(secrets),
    LATCHKEY_DATA_DIR: dataDirectory,
    LATCHKEY_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    LATCHKEY_PADDLE_API_URL: provider.url,
  };
  const { workers } = options;
  const service = new Service({
    directory: home,
    logFile,
    port,
    settings,
    workers,
    onUnexpectedEnd,
  });
  resources.defer(async () => void (await service.stop()));
  report('starting the service');
  await service.start();
  const pool = await openDatabase(dataDirectory);
  resources.defer(() => pool.end());
  const apiKey = await createKey(pool);
  const kept = resources.move();
  const opened = {
    home,
    dataDirectory,
    logFile,
    disk,
    service,
    pool,
    relay,
    provider,
    port,
    apiKey,
  };
  return { ...opened, ...secrets, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function createHome(resources: AsyncDisposableStack): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-soak-'));
  resources.defer(() =>
    rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  );
  // PostgreSQL and the service run under an account of their own if root starts them.
  await chmod(home, 0o755);
  return home;
}

function createSecrets() {
  return {
    masterSecret: randomBytes(32).toString('base64'),
    metricsToken: randomBytes(24).toString('hex'),
  };
}

function describeSettings({ masterSecret, metricsToken }: ReturnType<typeof createSecrets>) {
  return {
    LATCHKEY_SECRET: masterSecret,
    LATCHKEY_METRICS_TOKEN: metricsToken,
    LATCHKEY_LOG_LEVEL: 'warn',
    LATCHKEY_BILLING_SECRETS: BILLING_SECRET,
    LATCHKEY_PADDLE_API_KEY: 'pdl_apikey_of_the_soak_alone',
    LATCHKEY_MAIL_FROM: 'Soak <soak@soak.example>',
  };
}

async function createKey(pool: Pool): Promise<string> {
  const { apiKey } = await createApiKey(
    { pool, clock: systemClock },
    {
      name: 'soak',
      scopes: ['admin', 'outreach:send', 'subscribers:write'],
      term: { until: null },
    },
    { actor: 'soak', reason: null },
  );
  return apiKey;
}
