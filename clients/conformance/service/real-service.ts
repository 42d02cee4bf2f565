import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { eventually } from '../../../server/test/eventually.ts';
import { createExternalHome } from '../../../server/test/external-service.ts';
import type { ServiceProcess } from '../../../server/test/service-process.ts';
import { execute } from '../../../server/test/test-cluster.ts';
import { CATALOG, ISSUER } from './catalog.ts';
import { License, readText, type Administration } from './license.ts';
import { ServiceClient } from './service-client.ts';

type Product = 'studio' | 'solo' | 'server';

/** The real service, and what its operator does. */
export interface RealService extends AsyncDisposable {
  readonly url: string;
  readonly client: ServiceClient;
  /** Issues a license with the terms of its product. @param days its term; default: perpetual */
  issue(product?: Product, days?: number): Promise<License>;
  /** Returns the license of an activation, such as that of a trial. */
  findLicense(key: string): Promise<License>;
  /** Replaces the signing key at once; returns when the service signs with the new one. */
  rotateSigningKey(): Promise<void>;
}

/** Licenses are issued in batches: one command takes as long for fifty as for one. */
const BATCH = 50;

/** Starts the real service on a database of its own. */
export async function startRealService(): Promise<RealService> {
  await using resources = new AsyncDisposableStack();
  const external = resources.use(await createExternalHome());
  const { home, settings } = external;
  const catalog = join(home.directory, 'catalog.yaml');
  await writeFile(catalog, CATALOG);
  const own = { ...settings, LATCHKEY_CATALOG: catalog, LATCHKEY_PUBLIC_URL: ISSUER };
  const service = await external.start(own);
  const admin: Administration = {
    latchkey: async (args) => JSON.parse(await home.run([...args, '--json'], own)),
    query: (sql) => execute(settings.DATABASE_URL ?? '', sql),
  };
  const kept = resources.move();
  const client = new ServiceClient(service.url);
  return {
    url: service.url,
    client,
    issue: createIssuer(admin, client),
    async findLicense(key) {
      const shown = await admin.latchkey(['license', 'show', key]);
      return new License(readText(shown, 'license_id'), key, admin, client);
    },
    rotateSigningKey: () => rotateSigningKey(admin, client, service),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function createIssuer(admin: Administration, client: ServiceClient): RealService['issue'] {
  const ready = new Map<Product, License[]>();
  const issue = async (product: Product, more: readonly string[]): Promise<License[]> => {
    const issued = await admin.latchkey(['license', 'issue', '--product', product, ...more]);
    if (!Array.isArray(issued)) throw new Error('the command printed no list of licenses');
    return issued.map(
      (each) =>
        new License(readText(each, 'license_id'), readText(each, 'license_key'), admin, client),
    );
  };
  return async (product = 'studio', days) => {
    const count = days === undefined ? BATCH : 1;
    const term = days === undefined ? [] : ['--days', String(days)];
    const stock = days === undefined ? (ready.get(product) ?? []) : [];
    if (stock.length === 0)
      stock.push(...(await issue(product, ['--count', String(count), ...term])));
    if (days === undefined) ready.set(product, stock);
    const license = stock.pop();
    if (license === undefined) throw new Error('the command issued no license');
    return license;
  };
}

async function rotateSigningKey(
  admin: Administration,
  client: ServiceClient,
  service: ServiceProcess,
): Promise<void> {
  const rotated = await admin.latchkey([
    'signing-key',
    'rotate',
    '--immediately',
    '--reason',
    'conformance',
  ]);
  const kid = readText(rotated, 'kid');
  // The service reads the keys every minute, and on SIGHUP at once.
  service.send('SIGHUP');
  await eventually(async () => (await client.listPublicKeys()).some((key) => key['kid'] === kid));
}
