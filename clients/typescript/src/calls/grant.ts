import { noResponse, type NoResponse, type Success } from '../answers/answer.ts';
import { learnTime, readClock, serviceTime } from '../clock/clock.ts';
import { isObject } from '../json.ts';
import type { Kept } from '../kept/kept.ts';
import type { Session } from '../session.ts';
import { formatTime } from '../state/state.ts';
import { readPublicKeys, type PublicKey } from '../tokens/public-keys.ts';
import { findTimeProblem, type TokenReading } from '../tokens/verify.ts';

/** What a positive answer changes. */
export interface Grant {
  readonly kind: 'grant';
  readonly changes: Partial<Kept>;
}

/** More than a service publishes at once. */
const MAX_KEYS = 20;

/** Verifies the entitlement of a positive answer: without a genuine one, it is no answer. */
export async function readGrant(
  session: Session,
  answer: Success,
  entitlement: string,
): Promise<Grant | NoResponse> {
  const { reading, keys } = await verifyWithNewKeys(session, entitlement);
  if (reading.verdict !== 'ok') return notAccepted(reading.verdict);
  const { claims } = reading;
  const deviceMs = session.parts.now();
  const serviceMs = serviceTime(answer.serviceMs, claims.iat * 1000);
  const clock = learnTime(session.kept.clock, deviceMs, serviceMs);
  // With the new time, so that a machine whose clock stands in 1970 can be activated.
  const problem = findTimeProblem(claims, readClock(clock, deviceMs).nowMs);
  if (problem !== null) return notAccepted(problem);
  const lastAnswerAt = formatTime(serviceMs);
  return { kind: 'grant', changes: { clock, keys, entitlement, refused: null, lastAnswerAt } };
}

function notAccepted(verdict: string): NoResponse {
  return noResponse('portal', `the entitlement is not accepted: ${verdict}`, 200);
}

/** Fetches the service's keys once if the entitlement names one that is unknown. */
async function verifyWithNewKeys(
  session: Session,
  entitlement: string,
): Promise<{ readonly reading: TokenReading; readonly keys: readonly PublicKey[] }> {
  const { keys } = session.kept;
  const reading = await session.verify(entitlement, keys);
  if (reading.verdict !== 'unknown_key' || !session.parts.canFetchKeys) return { reading, keys };
  const fetched = await fetchKeys(session);
  return { reading: await session.verify(entitlement, fetched), keys: fetched };
}

async function fetchKeys({ parts }: Session): Promise<PublicKey[]> {
  const answer = await parts.service.get('/.well-known/jwks.json');
  if (answer.kind !== 'success' || !isObject(answer.body)) return [];
  return readPublicKeys(answer.body['keys']).slice(0, MAX_KEYS);
}
