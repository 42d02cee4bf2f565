import assert from 'node:assert/strict';

import {
  startPaddleApiStub,
  type StubAnswer,
} from '../../../../test/payment-providers/paddle-api-stub.ts';
import { createTestClock, DAY_MS, TEST_START } from '../../../../test/test-clock.ts';
import { createApiReader, type ApiReader } from './api-reader.ts';
import type { ProviderRecord, ProviderRecords } from './records.ts';

const stub = await startPaddleApiStub();

/** The header with the credentials of the account. */
export const AUTHORIZATION = 'Bearer key_of_the_account';

/** The requests of all readers. */
export const { requests } = stub;

/** A reader, and its waits in milliseconds, none of which takes time. */
export interface TestReader extends ApiReader {
  readonly waits: readonly number[];
}

/** Opens a reader of an API that answers as given. */
export function openReader(
  answer: StubAnswer,
  more: { readonly timeoutMs?: number } = {},
): TestReader {
  stub.answer = answer;
  const waits: number[] = [];
  const api = {
    name: 'The API',
    url: stub.url,
    headers: { authorization: AUTHORIZATION },
    clock: createTestClock(),
    ...more,
  };
  const sleep = (delayMs: number): Promise<void> => {
    waits.push(delayMs);
    return Promise.resolve();
  };
  return { ...createApiReader(api, { random: () => 0.5, sleep }), waits };
}

/** Reads all records; none may be unreadable. */
export async function readAll(records: ProviderRecords): Promise<ProviderRecord[]> {
  const all: ProviderRecord[] = [];
  for await (const record of records) {
    assert.ok(!('problem' in record), JSON.stringify(record));
    all.push(record);
  }
  return all;
}

/** A time in days from the start of the tests. */
export function day(days: number): Date {
  return new Date(TEST_START.getTime() + days * DAY_MS);
}
