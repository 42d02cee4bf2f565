import assert from 'node:assert/strict';

import { Problem } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { issueKeys, type ServiceHome, type Settings } from '../service-process.ts';
import type { Outcome } from './recorded-load.ts';

const CLIENTS_WITH_OWN_LICENSE = 16;
const CLIENTS_SHARING_A_LICENSE = 4;

/** The limit of active machines of each license of a load. */
export const MAX_ACTIVATIONS = 5;

/** Issues a license for each client of a load; the last clients share one and compete for its activations. */
export async function issueForLoad(
  home: ServiceHome,
  settings?: Settings,
): Promise<readonly string[]> {
  const order = { count: CLIENTS_WITH_OWN_LICENSE + 1, maxActivations: MAX_ACTIVATIONS };
  const keys = await issueKeys(home, order, settings);
  const shared = keys
    .slice(-1)
    .flatMap((key) => Array<string>(CLIENTS_SHARING_A_LICENSE - 1).fill(key));
  return [...keys, ...shared];
}

/** The statuses without a failure; 409 when the shared license is full. */
const EXPECTED_STATUSES = new Set([200, 409]);

/** Returns the distinct statuses of failures, in order; 0: no response. */
export function failuresOf(outcomes: readonly Outcome[]): number[] {
  const statuses = new Set(outcomes.map(({ status }) => status));
  return [...statuses].filter((status) => !EXPECTED_STATUSES.has(status)).sort((a, b) => a - b);
}

/** Asserts that every 503 is a problem of one of these codes, with Retry-After. */
export function assertUnavailable(outcomes: readonly Outcome[], codes: readonly string[]): void {
  for (const { status, text, retryAfter } of outcomes) {
    if (status !== 503) continue;
    const { code } = Parse(Problem, JSON.parse(text));
    assert.ok(codes.includes(code), text);
    assert.match(retryAfter ?? '', /^[1-9]\d*$/u);
  }
}

/** Returns the duration of the slowest request in milliseconds. */
export function slowestMs(outcomes: readonly Outcome[]): number {
  return Math.max(...outcomes.map(({ durationMs }) => durationMs));
}
