import { noResponse } from './answers/answer.ts';
import { noAnswer, type Result } from './answers/results.ts';
import type * as RareModule from './rare-calls.ts';
import type { Session } from './session.ts';

export type RareCalls = typeof RareModule;

const NOT_LOADED = noResponse('connection', 'a part of the client could not be loaded');

/** Loads the calls that a program needs only when a person does something; null if a page cannot reach its server. */
export async function loadRareCalls(): Promise<RareCalls | null> {
  try {
    return await import('./rare-calls.ts');
  } catch {
    // The next call tries again.
    return null;
  }
}

/** Runs one of these calls. */
export async function callRare<Content>(
  session: Session,
  work: (calls: RareCalls, session: Session) => Promise<Result<Content>>,
): Promise<Result<Content>> {
  const calls = await loadRareCalls();
  return calls === null ? noAnswer(NOT_LOADED) : work(calls, session);
}
