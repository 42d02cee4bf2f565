import { hash } from 'node:crypto';

import { toBase32 } from './totp.ts';

const CODE_BYTES = 10;
const GROUP = 4;
const CODE_LENGTH = 16;

const RECOVERY_CODES = 10;

/** Creates recovery codes: 80 bits each, as four groups. @param randomBytes a cryptographically strong source */
export function createRecoveryCodes(randomBytes: (count: number) => Buffer): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    (
      toBase32(randomBytes(CODE_BYTES))
        .toLowerCase()
        .match(new RegExp(`.{${GROUP}}`, 'g')) ?? []
    ).join('-'),
  );
}

/** Hashes a recovery code, written with or without hyphens and in any case; null if it does not have their form. */
export function hashRecoveryCode(code: string): Buffer | null {
  const symbols = code.replaceAll(/[\s-]/g, '').toUpperCase();
  return symbols.length === CODE_LENGTH && /^[A-Z2-7]+$/.test(symbols)
    ? hash('sha256', symbols, 'buffer')
    : null;
}
