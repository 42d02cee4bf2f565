import assert from 'node:assert/strict';

import { Problem } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { issueKeys, type ServiceHome, type Settings } from '../service-process.ts';
import type { Outcome } from './recorded-load.ts';

const CLIENTS_WITH_THEIR_OWN = 16;
const CLIENTS_WHO_SHARE = 4;
const MANY_MACHINES = 10_000;
const FEW_MACHINES = 5;

/** The licenses of a load. */
export interface LoadLicenses {
  /** One for each client. */
  readonly keys: readonly string[];
  readonly maxActivations: ReadonlyMap<string, number>;
}

/** Issues a license for each client of a load, and one that the last few clients fill and fight for. */
export async function issueForLoad(home: ServiceHome, settings?: Settings): Promise<LoadLicenses> {
  const own = { count: CLIENTS_WITH_THEIR_OWN, maxActivations: MANY_MACHINES };
  const shared = { count: 1, maxActivations: FEW_MACHINES };
  const ownKeys = await issueKeys(home, own, settings);
  const sharedKeys = await issueKeys(home, shared, settings);
  const [sharedKey = ''] = sharedKeys;
  return {
    keys: [...ownKeys, ...Array.from({ length: CLIENTS_WHO_SHARE }, () => sharedKey)],
    maxActivations: new Map([
      ...ownKeys.map((key) => [key, MANY_MACHINES] as const),
      [sharedKey, FEW_MACHINES],
    ]),
  };
}

/** The statuses of some outcomes, each once, in order; 0 stands for no answer. */
export function statusesOf(outcomes: readonly Outcome[]): number[] {
  return [...new Set(outcomes.map(({ status }) => status))].sort((a, b) => a - b);
}

/** Every 503 is a problem that says when to come again. */
export function assertUnavailable(outcomes: readonly Outcome[], codes: readonly string[]): void {
  for (const { status, text, retryAfter } of outcomes) {
    if (status !== 503) continue;
    const { code } = Parse(Problem, JSON.parse(text));
    assert.ok(codes.includes(code), text);
    assert.match(retryAfter ?? '', /^[1-9]\d*$/u);
  }
}

/** The longest that a request took, in milliseconds. */
export function slowest(outcomes: readonly Outcome[]): number {
  return Math.max(...outcomes.map(({ durationMs }) => durationMs));
}
