import type { LicenseActivateResponse, MachineInfo, TrialStartResponse } from '@latchkey/contract';

import { isObject, textOrNull } from '../json.ts';

/** What a client reads of an activation, or of a trial, which has a key, too. */
export type Activation = Required<Pick<LicenseActivateResponse, 'activation_id'>> & {
  readonly entitlement: string;
  readonly licenseKey: TrialStartResponse['license_key'] | null;
};

/** Reads why a trial has no entitlement: it ended, or another reason; null if it has one. */
export function readTrialRefusal(body: unknown): string | null {
  if (!isObject(body) || typeof body['activation_id'] !== 'string') return null;
  if (body['entitlement'] !== null) return null;
  return body['status'] === 'expired' ? 'trial_expired' : 'trial_unavailable';
}

/** Reads the answer of `activate` or `trial/start`; null if it is another. */
export function readActivation(body: unknown): Activation | null {
  if (!isObject(body)) return null;
  const { activation_id: id, entitlement, license_key: key } = body;
  if (typeof id !== 'string' || typeof entitlement !== 'string') return null;
  return { activation_id: id, entitlement, licenseKey: textOrNull(key) };
}

type ListedMachine = Pick<
  MachineInfo,
  | 'activation_id'
  | 'machine_id'
  | 'is_active'
  | 'os_version'
  | 'app_version'
  | 'activated_at'
  | 'last_validated_at'
>;

/** Reads the list of a license's machines; null if it is something else. */
export function readMachines(body: unknown): ListedMachine[] | null {
  if (!Array.isArray(body)) return null;
  const machines = body.flatMap((item: unknown) => readMachine(item) ?? []);
  return machines.length === body.length ? machines : null;
}

function readMachine(item: unknown): ListedMachine | null {
  if (!isObject(item)) return null;
  const { activation_id: id, machine_id: machineId, is_active: isActive } = item;
  if (typeof id !== 'string' || typeof machineId !== 'string' || typeof isActive !== 'boolean') {
    return null;
  }
  return {
    activation_id: id,
    machine_id: machineId,
    is_active: isActive,
    os_version: textOrNull(item['os_version']),
    app_version: textOrNull(item['app_version']),
    activated_at: textOrNull(item['activated_at']) ?? '',
    last_validated_at: textOrNull(item['last_validated_at']) ?? '',
  };
}

/** What a client reads of a purchase. */
export interface Purchase {
  readonly status: string;
  /** The first key that is shown; null if none is. */
  readonly licenseKey: string | null;
}

/** Reads the licenses of a transaction; null if it is something else. */
export function readPurchase(body: unknown): Purchase | null {
  if (!isObject(body) || typeof body['status'] !== 'string') return null;
  const listed: unknown[] = Array.isArray(body['licenses']) ? body['licenses'] : [];
  const keys = [body, ...listed].map((each) => isObject(each) && textOrNull(each['license_key']));
  return { status: body['status'], licenseKey: keys.find(Boolean) || null };
}
