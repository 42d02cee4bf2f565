import { OK, refuse, type Result } from '../answers/results.ts';
import { randomUuid } from '../events/uuid.ts';
import type { Session } from '../session.ts';

/** Keeps the consent of the user; the next check reports it. @param clearEvents is called when it ends */
export async function keepConsent(
  session: Session,
  sharing: boolean,
  clearEvents: () => Promise<unknown>,
): Promise<Result> {
  const installId = session.kept.installId ?? (sharing ? randomUuid() : null);
  await session.change({ sharing, installId });
  if (!sharing) await clearEvents();
  return OK;
}

/** Forgets the id of the installation, and returns it. A file that cannot be read keeps it: the call is refused. */
export async function forgetInstall(
  session: Session,
  clearEvents: () => Promise<unknown>,
): Promise<Result<{ readonly installId: string | null }>> {
  if (session.isUnread) return refuse('folder_unreadable');
  const { installId } = session.kept;
  await session.change({ sharing: false, installId: null });
  await clearEvents();
  return { ok: true, installId };
}
