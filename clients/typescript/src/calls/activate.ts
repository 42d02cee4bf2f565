import type { LicenseActivate, TrialStartRequest } from '@latchkey/contract';

import type { Answer } from '../answers/answer.ts';
import { OK, refuse, type Result } from '../answers/results.ts';
import { readActivation, readTrialRefusal } from '../answers/shapes.ts';
import { readKey } from '../keys/license-key.ts';
import type { Session } from '../session.ts';
import { readGrant } from './grant.ts';
import { reportFailure } from './report-failure.ts';
import { reportNoAnswer, unexpectedShape } from './outcome.ts';
import { LICENSES } from './service.ts';

/** A refusal after which the user chooses a machine to free. */
const LIMITS = new Set(['activation_limit_reached', 'move_limit_reached']);

/** Activates this machine with a key that a person typed. */
export async function activate(session: Session, typed: string): Promise<Result> {
  const { key, verdict } = readKey(typed);
  if (verdict === 'mistyped' || key === '') return refuse('key_mistyped');
  const request: LicenseActivate = { license_key: key, ...identify(session) };
  const answer = await session.parts.service.post(`${LICENSES}/activate`, request);
  const result = await acceptActivation(session, answer, key);
  if (result.ok) session.refusedKey = null;
  else if (LIMITS.has(result.code)) session.refusedKey = key;
  return result;
}

/** Starts the trial of this machine, or gets the one that it has. Without an answer, it is started later. */
export async function startTrial(session: Session): Promise<Result> {
  if (session.state.kind === 'licensed') return refuse('already_licensed');
  const request: TrialStartRequest = identify(session);
  const answer = await session.parts.service.post('/api/v1/trial/start', request);
  const result = await acceptActivation(session, answer, null);
  const trialWanted = !result.ok && result.code === 'no_answer' && session.kept.key === null;
  if (trialWanted !== session.kept.trialWanted) await session.change({ trialWanted });
  return result;
}

function identify({ machine, kept, parts }: Session): Omit<LicenseActivate, 'license_key'> {
  return {
    machine_fingerprint: { ...machine, ...parts.versions },
    ...(kept.installId === null ? {} : { install_id: kept.installId }),
  };
}

/** @param key null: the answer contains it */
async function acceptActivation(
  session: Session,
  answer: Answer,
  key: string | null,
): Promise<Result> {
  if (answer.kind !== 'success') return reportFailure(session, answer);
  const refused = key === null ? readTrialRefusal(answer.body) : null;
  if (refused !== null) {
    session.noteAnswer(true);
    return refuse(refused);
  }
  const activation = readActivation(answer.body);
  const licenseKey = key ?? activation?.licenseKey ?? null;
  if (activation === null || licenseKey === null) return reportNoAnswer(session, unexpectedShape());
  const grant = await readGrant(session, answer, activation.entitlement);
  if (grant.kind === 'no_response') return reportNoAnswer(session, grant);
  session.noteAnswer(true);
  const { release } = session.kept;
  await session.change({
    ...grant.changes,
    key: licenseKey,
    activationId: activation.activation_id,
    request: null,
    trialWanted: false,
    // The machine is wanted again.
    release: release?.activationId === activation.activation_id ? null : release,
  });
  return OK;
}
