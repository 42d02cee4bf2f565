import { describeRequest } from '../play/transcript.ts';
import { DifferenceError } from '../play/client.ts';
import { findAnyDifference } from '../play/difference.ts';
import type { Stage } from '../play/stage.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Compares a fact outside of the client's answers. @throws DifferenceError */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const difference = findAnyDifference(expected, actual);
  if (difference !== null) throw new DifferenceError(`${what}: ${difference}`);
}

/** @throws DifferenceError if a condition does not hold */
export function expect(what: string, condition: boolean): void {
  if (!condition) throw new DifferenceError(what);
}

/** Returns the JSON of the last request to an operation, such as `POST /api/v1/licenses/activate`. */
export function readRequest(stage: Stage, operation: string): Readonly<Record<string, unknown>> {
  const found = stage.network.requests.findLast((each) => describeRequest(each) === operation);
  const json: unknown = JSON.parse(found?.body.toString() ?? '{}');
  return typeof json === 'object' && json !== null ? { ...json } : {};
}

/** Returns the part of the kept state that decides whether the program may run. */
export function readDecision(stage: Stage): object {
  const { key, activation_id, entitlement, refused } = stage.readKept();
  return { key, activation_id, entitlement, refused: refused ?? null };
}

/** Returns the claims of the kept entitlement, unverified. */
export function readClaims(stage: Stage): object {
  const [, payload = ''] = String(stage.readKept()['entitlement']).split('.');
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return typeof claims === 'object' && claims !== null ? claims : {};
}
