import type { Session } from '../session.ts';
import { joinRun } from './join-run.ts';
import { NOTHING_KEPT, type Kept } from './kept.ts';

/** Returns the content of a file with what the run changed until it could be read. @param file null: it is damaged, and is renamed */
export async function joinFile(
  session: Session,
  file: Kept | null,
  hasOwnLicense: boolean,
): Promise<Kept> {
  if (file === null) await setAside(session);
  return joinRun(file ?? NOTHING_KEPT, session.kept, hasOwnLicense);
}

async function setAside(session: Session): Promise<void> {
  const { report, store } = session.parts;
  report({ code: 'file_damaged', message: 'the kept state is damaged and was renamed' });
  await session.attempt('folder_unwritable', () => store.setAside());
}
