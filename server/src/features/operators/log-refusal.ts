import type { SessionDependencies } from './dependencies.ts';

/** What the log says about a refused sign-in. */
interface RefusedSignIn {
  readonly event: string;
  /** Which account is attacked, or why it was refused: the lines of each are limited by themselves. */
  readonly source: string;
  readonly fields: object;
  readonly message: string;
}

/** Logs a refused sign-in, unless there were too many in this minute; strangers can cause hundreds in a second. */
export function logRefusal(
  { log, signIns }: Pick<SessionDependencies, 'log' | 'signIns'>,
  { event, source, fields, message }: RefusedSignIn,
): void {
  const sample = signIns.refusals.take(source, event);
  if (sample === null) return;
  log.warn({ event, ...fields, ...(sample.suppressed === 0 ? {} : sample) }, message);
}

/** Logs a wrong password, code or passkey. The id shows which account is attacked, without its address; null: it is unknown. */
export function logFailedSignIn(
  deps: Pick<SessionDependencies, 'log' | 'signIns'>,
  operatorId: string | null,
): void {
  logRefusal(deps, {
    event: 'operator.sign_in_failed',
    source: operatorId ?? 'unknown',
    fields: { operatorId },
    message: 'an operator sign-in failed',
  });
}
