import type { InputOf, Operation, OperatorRole } from '@latchkey/contract';
import { grantOf } from '@latchkey/contract/permissions';

import { apiFile } from '#console/app/api.ts';
import { ask } from '#console/app/ask.ts';
import { pathOf, type AnyInput } from '#console/app/call.ts';
import { saveFile } from '#console/app/save-file.ts';
import { hasRole, isFresh } from '#console/app/session.ts';

import { Button } from './button.tsx';

/** An export of what is listed. */
export interface CsvExport {
  /** Its operation. */
  readonly path: string;
  /** Of an operation that is a POST. */
  readonly body?: object;
  /** The lowest role that may. Default: every role. */
  readonly role?: OperatorRole;
  /** Whether it needs a fresh proof. */
  readonly fresh?: boolean;
  /** Default: `Export CSV`. */
  readonly label?: string;
}

/** Returns an operation as an export. */
export function exportOf<const Of extends Operation>(
  of: Of,
  input: InputOf<Of> & AnyInput,
): CsvExport {
  const sent = { path: pathOf(of, input), ...(input.body && { body: input.body }) };
  if (of.permission === 'public') return sent;
  const { role, reauthenticate } = grantOf(of.permission);
  return { ...sent, role, fresh: reauthenticate };
}

/** Downloads an export, and reports why it failed. Roles that may not are shown no button. */
export function CsvButton({ path, body, role = 'viewer', fresh, label = 'Export CSV' }: CsvExport) {
  if (!hasRole(role)) return null;
  async function download(): Promise<void> {
    if (fresh === true && !isFresh() && !(await ask('proof'))) return;
    saveFile(await apiFile(path, body));
  }
  return <Button onClick={download}>{label}</Button>;
}
