import type { Problem, NoResponse } from '../answers/answer.ts';
import { refusal } from '../answers/refusal.ts';
import type { NoAnswer, Refusal } from '../answers/results.ts';
import type { Session } from '../session.ts';
import { reportNoAnswer } from './outcome.ts';

/** Ends a call with what was no success: nothing that is kept changes. */
export function reportFailure(session: Session, answer: Problem | NoResponse): NoAnswer | Refusal {
  if (answer.kind === 'no_response') return reportNoAnswer(session, answer);
  session.noteAnswer(true);
  return refusal(answer);
}
