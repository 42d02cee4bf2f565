import type {
  AdminLicenseDetails,
  LicenseExtend,
  LicenseRekey,
  RekeyedLicense,
} from '@latchkey/contract';
import { parseDateTime } from '@latchkey/contract';

import { conflict, invalidRequest, licenseNotFound } from '#server/errors.ts';

import { recordAccess } from '../audit/record-access.ts';
import { rekeyAndSend } from '../key-emails/send-replaced-key.ts';
import {
  changeUpdates,
  extendLicense,
  LicenseChangeError,
  LicenseVersionError,
  type Extension,
  type ManualChange,
} from '../licenses/change-license.ts';
import { findLicense } from '../licenses/queries/licenses.ts';
import { revealLicenseKey } from '../licenses/show.ts';
import { describeLicense, type LicenseAdminDependencies } from './describe-license.ts';

/** A request for a change that is based on a version. */
interface ChangeRequest<Body = object> {
  readonly params: { readonly id: string };
  readonly body: Body & { readonly expected_version: number; readonly reason: string };
  readonly operator: { readonly actor: string };
}

/**
 * Changes a license and returns its new state.
 * @throws licenseNotFound; conflict with the current state, if it changed since the operator saw it
 */
export async function applyChange(
  deps: LicenseAdminDependencies,
  request: ChangeRequest,
  change: (manual: ManualChange) => Promise<unknown>,
): Promise<AdminLicenseDetails> {
  await runChange(deps, request, change);
  return describeLicense(deps, request.params.id);
}

async function runChange<Result>(
  deps: LicenseAdminDependencies,
  { params: { id }, body, operator: { actor } }: ChangeRequest,
  change: (manual: ManualChange) => Promise<Result>,
): Promise<Result> {
  const { expected_version: expectedVersion, reason } = body;
  try {
    return await change({ keyOrId: id, actor, reason, expectedVersion });
  } catch (error) {
    if (error instanceof LicenseVersionError) throw conflict(await describeLicense(deps, id));
    if (error instanceof LicenseChangeError) throw refuseField('until', error.message);
    throw error;
  }
}

/** The error of a field of the body. */
export function refuseField(field: string, msg: string) {
  return invalidRequest([{ loc: ['body', field], msg, type: 'value_error' }]);
}

/** Changes the expiry of a license. @throws as {@link applyChange}; invalidRequest unless exactly one end is given */
export async function applyExtension(
  deps: LicenseAdminDependencies,
  request: ChangeRequest<LicenseExtend>,
): Promise<AdminLicenseDetails> {
  const extension = readExtension(request.body);
  return applyChange(deps, request, (change) => extendLicense(deps, change, extension));
}

/** Changes the end of updates of a license. @throws as {@link applyExtension} */
export async function applyUpdatesChange(
  deps: LicenseAdminDependencies,
  request: ChangeRequest<LicenseExtend>,
): Promise<AdminLicenseDetails> {
  const extension = readExtension(request.body);
  return applyChange(deps, request, (change) => changeUpdates(deps, change, extension));
}

function readExtension({ days, until }: Pick<LicenseExtend, 'days' | 'until'>): Extension {
  if (days !== undefined && until === undefined) return { days };
  if (days !== undefined || until === undefined) {
    throw refuseField('days', 'Give either days or until.');
  }
  return { until: until === null ? null : readTime('until', until) };
}

/** Reads a time of the body. @throws invalidRequest */
export function readTime(field: string, text: string): Date {
  const time = parseDateTime(text);
  if (time !== undefined) return time;
  throw refuseField(field, 'Input should be a date-time.');
}

/** Replaces the key of a license. @throws as {@link applyChange} */
export async function applyRekey(
  deps: LicenseAdminDependencies,
  request: ChangeRequest<LicenseRekey>,
): Promise<RekeyedLicense> {
  const { keep_machines: keepMachines, send_mail: wantsMail } = request.body;
  const { licenseKey, machines, mail } = await runChange(deps, request, (change) =>
    rekeyAndSend(deps, { ...change, keepMachines, wantsMail }),
  );
  const license = await describeLicense(deps, request.params.id);
  return { license, license_key: licenseKey, machines, mail };
}

/** Returns the key of a license, after an audit entry. @throws licenseNotFound */
export async function revealKey(
  deps: LicenseAdminDependencies,
  id: string,
  { actor, reason }: { readonly actor: string; readonly reason: string | null },
): Promise<string> {
  const license = await findLicense(deps.pool, id);
  if (license === null) throw licenseNotFound();
  const entry = { actor, reason, action: 'license.reveal', subjectId: id, details: {} };
  return revealLicenseKey(deps, license, await recordAccess(deps, entry));
}
