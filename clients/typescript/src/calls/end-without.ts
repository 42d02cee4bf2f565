import type { Problem, Silence } from '../answers/answer.ts';
import { refusal } from '../answers/refusal.ts';
import type { NoAnswer, Refusal } from '../answers/results.ts';
import type { Session } from '../session.ts';
import { endInSilence } from './outcome.ts';

/** Ends a call with what was no success: nothing that is kept changes. */
export function endWithout(session: Session, answer: Problem | Silence): NoAnswer | Refusal {
  if (answer.kind === 'silence') return endInSilence(session, answer);
  session.noteAnswer(true);
  return refusal(answer);
}
