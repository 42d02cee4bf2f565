import type { Context } from '#server/context.ts';
import {
  recordAccess,
  type AccessEntry,
  type RecordedAccess,
} from '#server/features/audit/record-access.ts';

import { currentActor } from './actor.ts';

interface Access extends Pick<AccessEntry, 'action' | 'subjectId'> {
  readonly reason?: string | undefined;
  readonly details?: AccessEntry['details'];
}

/**
 * Writes the audit row of secrets or personal data that this command is about to show. Call it before anything is printed.
 * @throws the error of the database when the row cannot be written
 */
export function auditAccess(
  ctx: Pick<Context, 'pool' | 'clock'>,
  { action, subjectId, reason, details = {} }: Access,
): Promise<RecordedAccess> {
  const entry = { action, subjectId, reason: reason ?? null, details };
  return recordAccess(ctx, { ...entry, actor: currentActor() });
}
