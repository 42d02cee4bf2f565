import type {
  AdminLicenseDetails,
  LicenseExtend,
  LicenseRekey,
  LicenseUpdatesChange,
  RekeyedLicense,
} from '@latchkey/contract';
import { parseDateTime } from '@latchkey/contract';

import { conflict, invalidRequest, licenseNotFound } from '#server/errors.ts';

import { recordAccess } from '../audit/record-access.ts';
import { rekeyAndSend } from '../billing/key-emails/send-replaced-key.ts';
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

/** The body of a change that is based on a version. */
interface BasedChange {
  readonly expected_version: number;
  readonly reason: string;
}

/**
 * Changes a license and returns its new state.
 * @throws licenseNotFound; conflict with the current state, if it changed since the operator saw it
 */
export async function applyChange(
  deps: LicenseAdminDependencies,
  id: string,
  body: BasedChange,
  actor: string,
  change: (manual: ManualChange) => Promise<unknown>,
): Promise<AdminLicenseDetails> {
  await runChange(deps, id, body, actor, change);
  return describeLicense(deps, id);
}

async function runChange<Result>(
  deps: LicenseAdminDependencies,
  id: string,
  { expected_version: expectedVersion, reason }: BasedChange,
  actor: string,
  change: (manual: ManualChange) => Promise<Result>,
): Promise<Result> {
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
  id: string,
  body: LicenseExtend,
  actor: string,
): Promise<AdminLicenseDetails> {
  const extension = readExtension(body);
  return applyChange(deps, id, body, actor, (change) => extendLicense(deps, change, extension));
}

/** Changes the end of updates of a license. @throws as {@link applyExtension} */
export async function applyUpdatesChange(
  deps: LicenseAdminDependencies,
  id: string,
  body: LicenseUpdatesChange,
  actor: string,
): Promise<AdminLicenseDetails> {
  const extension = readExtension(body);
  return applyChange(deps, id, body, actor, (change) => changeUpdates(deps, change, extension));
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
  id: string,
  body: LicenseRekey,
  actor: string,
): Promise<RekeyedLicense> {
  const options = { keepMachines: body.keep_machines, wantsMail: body.send_mail };
  const { licenseKey, machines, mail } = await runChange(deps, id, body, actor, (change) =>
    rekeyAndSend(deps, { ...change, ...options }),
  );
  return { license: await describeLicense(deps, id), license_key: licenseKey, machines, mail };
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
