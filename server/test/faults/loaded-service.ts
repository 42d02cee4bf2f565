import assert from 'node:assert/strict';

import { Problem } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { issueKeys, type ServiceHome, type Settings } from '../service-process.ts';
import type { Outcome } from './recorded-load.ts';

const CLIENTS_WITH_THEIR_OWN = 16;
const CLIENTS_WHO_SHARE = 4;

/** How many machines each license of a load is good for. */
export const MAX_ACTIVATIONS = 5;

/** Issues a license for each client of a load, but for the last few, who share one and fight for its slots. */
export async function issueForLoad(
  home: ServiceHome,
  settings?: Settings,
): Promise<readonly string[]> {
  const order = { count: CLIENTS_WITH_THEIR_OWN + 1, maxActivations: MAX_ACTIVATIONS };
  const keys = await issueKeys(home, order, settings);
  const shared = keys.slice(-1).flatMap((key) => Array<string>(CLIENTS_WHO_SHARE - 1).fill(key));
  return [...keys, ...shared];
}

/** What a load may be answered while nothing fails: 409 is for the license that is full. */
const ANSWERED = new Set([200, 409]);

/** The statuses that tell of a failure, each once, in order; 0 stands for no answer. */
export function failuresOf(outcomes: readonly Outcome[]): number[] {
  const statuses = new Set(outcomes.map(({ status }) => status));
  return [...statuses].filter((status) => !ANSWERED.has(status)).sort((a, b) => a - b);
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
