import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';

import {
  LicenseActivateResponse,
  LicenseDeactivateResponse,
  LicenseValidateResponse,
  MachineInfo,
  TrialStartResponse,
} from '@latchkey/contract';
import { type Static, Type } from 'typebox';
import { Parse } from 'typebox/value';

import { generateLicenseKey } from '#server/lib/license-key.ts';

import type { HttpClient } from './http-client.ts';

export type Fingerprint = Readonly<Record<string, unknown>>;

/** Returns a new machine. */
export function anyMachine(): { readonly machine_id: string } {
  return { machine_id: `machine-${randomUUID()}` };
}

/** Returns a well-formed unknown key. */
export function anyUnknownKey(): string {
  return generateLicenseKey('LK', randomBytes);
}

/** A key in the right format with a wrong checksum. */
export const MISTYPED_KEY = 'LK-00000-00000-00000-00000-00001';

/** Activates, which must succeed, and returns the answer's body. */
export async function activate(
  client: HttpClient,
  licenseKey: string,
  fingerprint: Fingerprint = anyMachine(),
): Promise<LicenseActivateResponse> {
  const answer = await client.post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: fingerprint,
  });
  assert.equal(answer.status, 200, answer.text);
  return Parse(LicenseActivateResponse, answer.body);
}

/** Validates, which is always answered with 200, and returns the answer's body. */
export async function validate(
  client: HttpClient,
  licenseKey: string,
  activationId: string,
  machineId: string,
): Promise<LicenseValidateResponse> {
  const answer = await client.post('/api/v1/licenses/validate', {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
  });
  assert.equal(answer.status, 200, answer.text);
  return Parse(LicenseValidateResponse, answer.body);
}

/** Deactivates, which must succeed, and returns the answer's body. */
export async function deactivate(
  client: HttpClient,
  licenseKey: string,
  activationId: string,
  machineId: string,
): Promise<LicenseDeactivateResponse> {
  const answer = await client.post('/api/v1/licenses/deactivate', {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
  });
  assert.equal(answer.status, 200, answer.text);
  return Parse(LicenseDeactivateResponse, answer.body);
}

const MachineList = Type.Array(MachineInfo);

/** Lists the machines of a license by the interface. */
export async function listMachines(
  client: HttpClient,
  licenseKey: string,
): Promise<Static<typeof MachineList>> {
  const answer = await client.get(`/api/v1/licenses/${encodeURIComponent(licenseKey)}/activations`);
  assert.equal(answer.status, 200, answer.text);
  return Parse(MachineList, answer.body);
}

/** Starts or gets a trial, which must succeed, and returns the answer's body. */
export async function startTrial(
  client: HttpClient,
  fingerprint: Fingerprint,
): Promise<TrialStartResponse> {
  const answer = await client.post('/api/v1/trial/start', { machine_fingerprint: fingerprint });
  assert.equal(answer.status, 200, answer.text);
  return Parse(TrialStartResponse, answer.body);
}
