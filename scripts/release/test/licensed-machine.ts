/** What a client asks of a service, from an issued key to a validated license. */
import type { TestContext } from 'node:test';

import { LicenseActivateResponse, LicenseValidateResponse } from '@latchkey/contract';
import { Parse } from 'typebox/value';

const MACHINE_ID = '4c4c4544-0044';

/** Sends JSON to a path below `/api/v1/licenses/`, and returns the parsed answer. */
export type Post = (path: string, body: object) => Promise<unknown>;

/** Returns the key in the output of `latchkey license issue`. @throws Error without one */
export function readKey(output: string): string {
  const [key] = /^LK(?:-[0-9A-Z]{5}){5}$/m.exec(output) ?? [];
  if (key === undefined) throw new Error(`no license was issued: ${output}`);
  return key;
}

/** Reports how long a person waits for the first license: from the start of an installation until it is validated. */
export function reportFirstValidation(t: TestContext, startedMs: number): void {
  const seconds = (Date.now() - startedMs) / 1000;
  t.diagnostic(`installed, issued, activated and validated in ${seconds.toFixed(1)} s`);
}

/** A machine on which a license is activated. */
export interface LicensedMachine {
  /** Whether the service still accepts it. */
  validate(): Promise<boolean>;
}

/** @throws Error when the service does not activate the license */
export async function activateLicense(post: Post, key: string): Promise<LicensedMachine> {
  const own = { license_key: key, machine_fingerprint: { machine_id: MACHINE_ID } };
  const { activation_id } = Parse(LicenseActivateResponse, await post('activate', own));
  return {
    async validate() {
      const body = { license_key: key, activation_id, machine_id: MACHINE_ID };
      return Parse(LicenseValidateResponse, await post('validate', body)).valid;
    },
  };
}
