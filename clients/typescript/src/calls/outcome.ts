import { silence, type Silence } from '../answers/answer.ts';
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
