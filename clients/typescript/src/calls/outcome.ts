import { noResponse, type Problem, type NoResponse } from '../answers/answer.ts';
import { noAnswer, refuse, type NoAnswer, type Refusal } from '../answers/results.ts';
import type { Session } from '../session.ts';

/** Records that a request was not answered; nothing else changes. */
export function reportNoAnswer(session: Session, answer: NoResponse): NoAnswer {
  session.noteAnswer(false, `${answer.cause}: ${answer.detail}`);
  return noAnswer(answer);
}

/** JSON of another shape is not an answer of the service. */
export function unexpectedShape(): NoResponse {
  return noResponse('portal', 'JSON of another shape', 200);
}

/** Refuses a call that needs a license: there is none, or it could not be read. */
export function refuseUnactivated({ isUnread }: Session): Refusal {
  return refuse(isUnread ? 'folder_unreadable' : 'not_activated');
}

/** Whether a refusal is about the license, and not about the path, or of something between. */
export function isAboutLicense({ status, code }: Problem): boolean {
  return [403, 404].includes(status) && /^(?:license|activation|machine|trial)_/.test(code);
}
