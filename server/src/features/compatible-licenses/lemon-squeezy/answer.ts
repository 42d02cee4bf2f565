import type { Answer } from '../answer.ts';
import type { InstanceRow } from '../queries/instances.ts';
import { describeInstance, describeLicense, KEY_NOT_FOUND, type ShownLicense } from './describe.ts';

/** The field of an answer that says whether the operation succeeded. */
export type Outcome = 'activated' | 'valid' | 'deactivated';

/** @param instance the machine; null: none was named; undefined: the operation shows none */
export function answer(
  outcome: Outcome,
  shown: ShownLicense,
  instance: InstanceRow | null | undefined,
  now: Date,
): Answer {
  const body = { [outcome]: true, error: null, ...describeLicense(shown, now) };
  if (instance === undefined) return { status: 200, body };
  return {
    status: 200,
    body: { ...body, instance: instance === null ? null : describeInstance(instance) },
  };
}

/** The key exists, and the operation is refused. */
export function refuse(
  outcome: Outcome,
  problem: string,
  shown: ShownLicense,
  now: Date,
  status: 400 | 404 = 400,
): Answer {
  return { status, body: { [outcome]: false, error: problem, ...describeLicense(shown, now) } };
}

/** No license that offers this interface has the key. */
export function refuseUnknownKey(outcome: Outcome): Answer {
  return { status: 404, body: { [outcome]: false, error: KEY_NOT_FOUND } };
}
