import { silence, type Problem, type Silence } from '../answers/answer.ts';
import { noAnswer, type NoAnswer } from '../answers/results.ts';
import type { Session } from '../session.ts';

/** Notes that a question was not answered; nothing else changes. */
export function endInSilence(session: Session, answer: Silence): NoAnswer {
  session.noteAnswer(false, `${answer.cause}: ${answer.detail}`);
  return noAnswer(answer);
}

/** Takes JSON of another shape for what it is: not an answer of the service. */
export function otherShape(): Silence {
  return silence('portal', 'JSON of another shape', 200);
}

/** Whether a refusal is about the license, and not about the path, or of something between. */
export function isAboutLicense({ status, code }: Problem): boolean {
  return [403, 404].includes(status) && /^(?:license|activation|machine|trial)_/.test(code);
}
