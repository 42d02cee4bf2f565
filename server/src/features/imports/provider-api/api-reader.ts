import type { Static, TSchema } from 'typebox';

import { exponentialDelayMs } from '#server/lib/retry-delay.ts';

import {
  getJson,
  ProviderApiError,
  type ProviderApiOptions,
} from '../../billing/providers/provider-api.ts';

/** Reads an API patiently: it waits for rate limits, and repeats requests that failed for a moment. */
export interface ApiReader {
  readonly name: string;
  readonly now: () => Date;
  /**
   * Requests a path and returns its validated response.
   * @throws ProviderApiError for a refusal, an invalid response, or a failure that several attempts do not end
   */
  readonly get: <Schema extends TSchema>(path: string, schema: Schema) => Promise<Static<Schema>>;
}

export interface ApiReaderOptions {
  readonly signal?: AbortSignal;
  /** Waits. */
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Called before a wait of some seconds. */
  readonly onWait?: (seconds: number, reason: string) => void;
}

/** Consecutive failures of a request, rate limits aside. */
const MAX_ATTEMPTS = 4;

/** Consecutive refusals of a request by a rate limit. */
const MAX_RATE_LIMITS = 20;

/** Of a page with large objects. */
const MAX_RESPONSE_BYTES = 16 * 1_048_576;

const TIMEOUT_MS = 60_000;

/** Creates a reader of an account's API. */
export function createApiReader(api: ProviderApiOptions, options: ApiReaderOptions): ApiReader {
  const limited = { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES, ...api };
  return {
    name: api.name,
    now: () => api.clock.now(),
    async get(path, schema) {
      const counts = { failures: 0, limits: 0 };
      for (;;) {
        try {
          const response = await getJson(limited, path, schema, options.signal);
          // A wrong address, not the end of a list.
          if (response === null) throw new ProviderApiError(`${api.name} answers 404`, NOT_FOUND);
          return response;
        } catch (error) {
          await waitForRetry(error, counts, options);
        }
      }
    },
  };
}

const NOT_FOUND = { status: 404 };

/** @throws the error if a retry is useless, or was tried often enough */
async function waitForRetry(
  error: unknown,
  counts: { failures: number; limits: number },
  { signal, sleep, random, onWait }: ApiReaderOptions,
): Promise<void> {
  if (!(error instanceof ProviderApiError) || signal?.aborted === true) throw error;
  const { retryAfterSeconds, message } = error;
  if (retryAfterSeconds !== null) {
    counts.limits += 1;
    if (counts.limits > MAX_RATE_LIMITS) throw error;
    onWait?.(retryAfterSeconds, message);
    await sleep(retryAfterSeconds * 1_000, signal);
    return;
  }
  counts.failures += 1;
  if (!isTemporary(error) || counts.failures >= MAX_ATTEMPTS) throw error;
  const delayMs = exponentialDelayMs(counts.failures, random());
  onWait?.(Math.ceil(delayMs / 1_000), message);
  await sleep(delayMs, signal);
}

/** A server error, or no response. An invalid response does not improve. */
function isTemporary({ status, cause }: ProviderApiError): boolean {
  return status === null ? cause !== undefined : status >= 500;
}

/** More pages than any shop has: a list that does not end repeats itself. */
const MAX_PAGES = 100_000;

/** A page, and where the next one starts; null after the last one. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/**
 * Reads pages until there is none.
 * @param read returns the page that starts at a cursor; null is the first page
 * @throws ProviderApiError if the list repeats itself
 */
export async function* readPages<Item>(
  { name }: Pick<ApiReader, 'name'>,
  read: (cursor: string | null) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  const seen = new Set<string>();
  let page = await read(null);
  yield page.items;
  while (page.next !== null) {
    if (seen.has(page.next) || seen.size >= MAX_PAGES) {
      throw new ProviderApiError(`${name} repeats a page of its list`);
    }
    seen.add(page.next);
    page = await read(page.next);
    yield page.items;
  }
}

/** Reads numbered pages, the first of which is 1. @param read returns a page and the number of the last one */
export function readNumberedPages<Item>(
  api: Pick<ApiReader, 'name'>,
  read: (page: number) => Promise<{ readonly items: readonly Item[]; readonly last: number }>,
): AsyncGenerator<readonly Item[]> {
  return readPages(api, async (cursor) => {
    const page = Number(cursor ?? 1);
    const { items, last } = await read(page);
    return { items, next: page < last ? String(page + 1) : null };
  });
}
