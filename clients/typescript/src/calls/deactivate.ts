import type { LicenseDeactivate } from '@latchkey/contract';

import type { Answer } from '../answers/answer.ts';
import { OK, type Result } from '../answers/results.ts';
import { isObject } from '../json.ts';
import { NO_LICENSE } from '../kept/kept.ts';
import type { Session } from '../session.ts';
import { reportFailure } from './report-failure.ts';
import { isAboutLicense, refuseUnactivated, reportNoAnswer, unexpectedShape } from './outcome.ts';
import { LICENSES } from './service.ts';

/**
 * Frees this machine, and then deletes its license here. Without an answer, the machine goes on running, and the next check frees it.
 */
export async function deactivate(session: Session): Promise<Result> {
  const { key, activationId } = session.kept;
  if (key === null || activationId === null) return refuseUnactivated(session);
  const machineId = session.machine.machine_id;
  await session.change({ release: { key, activationId, machineId } });
  return release(session);
}

/** Frees the machine that waits for it. */
export async function release(session: Session): Promise<Result> {
  const { release: waiting } = session.kept;
  if (waiting === null) return OK;
  const answer = await requestDeactivation(session, {
    license_key: waiting.key,
    activation_id: waiting.activationId,
    machine_id: waiting.machineId,
  });
  if (answer.kind === 'no_response') return reportNoAnswer(session, answer);
  if (isReleased(answer)) {
    const isOurs = waiting.activationId === session.kept.activationId;
    session.noteAnswer(true);
    await session.change(isOurs ? NO_LICENSE : { release: null });
    return OK;
  }
  if (answer.kind === 'success') return reportNoAnswer(session, unexpectedShape());
  await session.change({ release: null });
  return reportFailure(session, answer);
}

/** Asks the service to free a machine. */
export function requestDeactivation(session: Session, machine: LicenseDeactivate): Promise<Answer> {
  return session.parts.service.post(`${LICENSES}/deactivate`, machine);
}

/** A license or an activation that does not exist (any more) is released, too. */
function isReleased(answer: Exclude<Answer, { kind: 'no_response' }>): boolean {
  if (answer.kind === 'problem') return isAboutLicense(answer);
  return isObject(answer.body) && answer.body['success'] === true;
}
