import type { LicenseValidate } from '@latchkey/contract';

import type { Problem, Success } from '../answers/answer.ts';
import { OK, refuse, type Refusal, type Result } from '../answers/results.ts';
import { readValidation } from '../answers/validation.ts';
import type { Trigger } from '../checks/trigger.ts';
import { formatTime } from '../state/state.ts';
import type { Session } from '../session.ts';
import { callRare } from '../load-rare-calls.ts';
import { readGrant } from './grant.ts';
import { isAboutLicense, refuseUnactivated, reportNoAnswer, unexpectedShape } from './outcome.ts';
import { LICENSES } from './service.ts';

/**
 * Asks the service whether this machine may run. What waits for the service comes first: a machine to release, or a trial that could
 * not be started.
 */
export async function check(session: Session, trigger: Trigger): Promise<Result> {
  if (session.kept.release !== null) {
    const released = await callRare(session, (calls) => calls.release(session));
    if (!released.ok) return released;
  }
  const { key, activationId, trialWanted } = session.kept;
  if (key === null || activationId === null) {
    return trialWanted
      ? callRare(session, (calls) => calls.startTrial(session))
      : refuseUnactivated(session);
  }
  const question: LicenseValidate = {
    license_key: key,
    activation_id: activationId,
    machine_id: session.machine.machine_id,
    trigger,
    ...consent(session),
  };
  const answer = await session.parts.service.post(`${LICENSES}/validate`, question);
  if (answer.kind === 'no_response') return reportNoAnswer(session, answer);
  if (answer.kind === 'success') return acceptValidation(session, answer);
  if (isAboutLicense(answer)) return acceptRefusal(session, answer, answer.code);
  session.noteAnswer(true);
  return refuse(answer.code);
}

function consent({ kept }: Session): Pick<LicenseValidate, 'install_id' | 'usage_sharing'> {
  return {
    ...(kept.installId === null ? {} : { install_id: kept.installId }),
    ...(kept.sharing === null ? {} : { usage_sharing: kept.sharing }),
  };
}

async function acceptValidation(session: Session, answer: Success): Promise<Result> {
  const validation = readValidation(answer.body);
  if (validation === null) return reportNoAnswer(session, unexpectedShape());
  if (!validation.valid) return acceptRefusal(session, answer, validation.reason);
  const grant = await readGrant(session, answer, validation.entitlement);
  if (grant.kind === 'no_response') return reportNoAnswer(session, grant);
  session.noteAnswer(true);
  await session.change(grant.changes);
  return OK;
}

async function acceptRefusal(
  session: Session,
  answer: Success | Problem,
  reason: string,
): Promise<Refusal> {
  session.noteAnswer(true);
  const at = formatTime(answer.serviceMs ?? session.nowMs);
  await session.change({ refused: { reason, at }, lastAnswerAt: at });
  return refuse(reason);
}
