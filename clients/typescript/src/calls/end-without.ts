import type { Problem, Silence } from '../answers/answer.ts';
import { refusal } from '../answers/refusal.ts';
import type { NoAnswer, Refusal } from '../answers/results.ts';
import type { Session } from '../session.ts';
import { endInSilence } from './outcome.ts';

/** Notes that the service refused, which changes no license. */
export async function endInRefusal(session: Session, answer: Problem): Promise<Refusal> {
  session.noteAnswer(true);
  await session.change(session.learnFrom(answer));
  return refusal(answer);
}

/** Ends a call with what was no success. */
export async function endWithout(
  session: Session,
  answer: Problem | Silence,
): Promise<NoAnswer | Refusal> {
  return answer.kind === 'silence' ? endInSilence(session, answer) : endInRefusal(session, answer);
}
