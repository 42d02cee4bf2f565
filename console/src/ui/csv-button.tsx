import type { OperatorRole } from '@latchkey/contract';

import { apiFile } from '#console/app/api.ts';
import { ask } from '#console/app/ask.ts';
import { saveFile } from '#console/app/save-file.ts';
import { isFresh } from '#console/app/session.ts';

import { Button } from './button.tsx';

/** An export of what is listed. */
export interface CsvExport {
  /** Its operation. */
  readonly path: string;
  readonly role: OperatorRole;
  readonly fresh: boolean;
  /** Default: `Export CSV`. */
  readonly label?: string;
}

/**
 * Downloads an export, and reports why it failed.
 * @param props.fresh whether it needs a fresh proof
 */
export function CsvButton({ path, fresh, label = 'Export CSV' }: Omit<CsvExport, 'role'>) {
  async function download(): Promise<void> {
    if (fresh && !isFresh() && !(await ask('proof'))) return;
    saveFile(await apiFile(path));
  }
  return <Button onClick={download}>{label}</Button>;
}
