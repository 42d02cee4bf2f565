import type { LicenseValidateResponse } from '@latchkey/contract';

import { isObject } from '../json.ts';

/** What a client reads of a validation. */
export type Validation =
  | { readonly valid: true; readonly entitlement: string }
  | { readonly valid: false; readonly reason: NonNullable<LicenseValidateResponse['reason']> };

/** Reads the answer of `validate`; null if it is another. */
export function readValidation(body: unknown): Validation | null {
  if (!isObject(body)) return null;
  const { valid, entitlement, reason } = body;
  if (valid === true && typeof entitlement === 'string') return { valid, entitlement };
  if (valid === false && typeof reason === 'string') return { valid, reason };
  return null;
}
