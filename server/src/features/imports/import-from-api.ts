import { setTimeout as sleep } from 'node:timers/promises';

import { isLoopback } from '#server/lib/loopback.ts';

import { ProviderApiError } from '../billing/providers/provider-api.ts';
import type { ImportDependencies } from './dependencies.ts';
import {
  importLicenses,
  type ImportObserver,
  type ImportRequest,
  type ImportResult,
} from './import-licenses.ts';
import { createApiReader, type ApiReaderOptions } from './provider-api/api-reader.ts';
import { API_DESCRIPTIONS, type ApiSource } from './provider-api/api-sources.ts';
import { toRows } from './provider-api/to-rows.ts';

/** An import from the API of a provider, or its rehearsal. */
export interface ApiImportRequest extends Omit<ImportRequest, 'source' | 'origin'> {
  readonly source: ApiSource;
  /** The key of the account. Of FastSpring: user name and password with a colon between them. */
  readonly apiKey: string;
  /** Another address of the API. Default: the provider's. */
  readonly apiUrl: string | null;
}

/** An account that cannot be imported; the message is a sentence for the operator, without the key. */
export class ApiImportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiImportError';
  }
}

const SYSTEM: Pick<ApiReaderOptions, 'sleep' | 'random'> = {
  sleep: async (delayMs, signal) =>
    sleep(delayMs, undefined, signal === undefined ? {} : { signal }),
  random: Math.random,
};

/**
 * Imports the running subscriptions of an account, and its license keys where the provider has them. Repeating it continues an
 * interrupted import.
 * @throws ApiImportError for a key of a test mode, an unsafe address, or an API that cannot be read; rows before are imported
 */
export async function importFromApi(
  deps: ImportDependencies,
  { source, apiKey, apiUrl, ...request }: ApiImportRequest,
  observer: ImportObserver & Pick<ApiReaderOptions, 'onWait'> = {},
  { sleep: wait, random } = SYSTEM,
): Promise<ImportResult> {
  const { name, url, headers, read, permissions } = API_DESCRIPTIONS[source];
  const address = apiUrl ?? url;
  requireLive(source, apiKey, address);
  const { clock } = deps;
  const { onWait, ...importObserver } = observer;
  const api = createApiReader(
    { name, url: address, headers: headers(apiKey), clock },
    { sleep: wait, random, ...(onWait === undefined ? {} : { onWait }) },
  );
  const rows = toRows(read(api), () => deps.catalog());
  try {
    const origin = new URL(address).host;
    return await importLicenses(deps, rows, { ...request, source, origin }, importObserver);
  } catch (error) {
    if (!(error instanceof ProviderApiError)) throw error;
    const isRefused = error.status === 401 || error.status === 403;
    const hint = isRefused ? ` The key needs permissions: ${permissions}.` : '';
    const message = `Cannot read the account: ${error.message}.${hint} Licenses that were imported stay; run the command again.`;
    throw new ApiImportError(message, { cause: error });
  }
}

/** Data of a test mode are no sales, and a key must not travel unencrypted. */
function requireLive(source: ApiSource, apiKey: string, address: string): void {
  const { name, testKeys, testHost } = API_DESCRIPTIONS[source];
  const { hostname, protocol } = new URL(address);
  if (testKeys.some((start) => apiKey.startsWith(start)) || hostname === testHost) {
    throw new ApiImportError(
      `This is the test mode of ${name}, whose subscriptions are no sales: use a key of the live mode.`,
    );
  }
  const host = hostname.replaceAll(/[[\]]/gu, '');
  if (protocol !== 'https:' && !isLoopback(host)) {
    throw new ApiImportError('The address of the API must begin with https://.');
  }
}
