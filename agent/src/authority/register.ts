import { statSync } from 'node:fs';
import { join } from 'node:path';

import {
  parseFields,
  parseFlag,
  parseList,
  parseNullable,
  parseNumber,
  parseOneOf,
  parseText,
  parseTime,
} from '../system/json.ts';
import { accessFiles, AuthorityError, type AuthorityPaths, readIfExists } from './context.ts';

/** The state of the authority: every certificate that it signed or was about to sign. */
export interface Register {
  readonly domain: string;
  /** The address of viewers, such as `wss://db-1.example.com/latchkey`; null when unknown. */
  readonly address: string | null;
  /** The number of the revocation list of this state. */
  readonly revocationsNumber: number;
  /** When nginx was last reloaded; null when files have changed since. */
  readonly nginxReloadedAt: Date | null;
  readonly certificates: readonly CertificateRecord[];
}

export interface CertificateRecord {
  /** In capital hexadecimal digits. */
  readonly serial: string;
  readonly name: string;
  /** For a client, or for the proxy to identify itself to the agent. */
  readonly purpose: 'client' | 'proxy';
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  /** Registered, but not issued yet. */
  readonly isPending: boolean;
}

/** Adds a certificate that is about to be signed. */
export function addPending(register: Register, record: CertificateRecord): Register {
  return { ...register, certificates: [...register.certificates, record] };
}

/** Marks a pending certificate as issued, and revokes those that it replaces. */
export function markIssued(
  register: Register,
  serial: string,
  replaced: readonly CertificateRecord[],
  now: Date,
): Register {
  const certificates = register.certificates.map((each) =>
    each.serial === serial ? { ...each, isPending: false } : each,
  );
  return revoke({ ...register, certificates }, replaced, now);
}

/** Revokes certificates; some may be revoked already. */
export function revoke(
  register: Register,
  records: readonly CertificateRecord[],
  now: Date,
): Register {
  const serials = new Set(records.filter((each) => !isRevoked(each)).map(({ serial }) => serial));
  if (serials.size === 0) return register;
  const certificates = register.certificates.map((each) =>
    serials.has(each.serial) ? { ...each, revokedAt: now, isPending: false } : each,
  );
  return incrementListNumber({ ...register, certificates, nginxReloadedAt: null });
}

/** Requests a new revocation list by incrementing its number. */
export function incrementListNumber(register: Register, atLeast = 0): Register {
  const revocationsNumber = Math.max(register.revocationsNumber, atLeast) + 1;
  return { ...register, revocationsNumber };
}

/** Returns the issued certificates of a client, oldest first. */
export function findClient({ certificates }: Register, name: string): CertificateRecord[] {
  return certificates.filter((each) => isIssuedToClient(each) && each.name === name);
}

export function isRevoked({ revokedAt }: CertificateRecord): boolean {
  return revokedAt !== null;
}

function isIssuedToClient({ purpose, isPending }: CertificateRecord): boolean {
  return purpose === 'client' && !isPending;
}

/** About 100,000 certificates. */
const MAX_BYTES = 32 * 1024 * 1024;

const FORMAT = 1;

export function registerPath({ authority }: AuthorityPaths): string {
  return join(authority, 'register.json');
}

/**
 * Reads the register; null without one.
 * @throws AuthorityError when it is damaged, or without the permission
 */
export function readRegister(paths: AuthorityPaths): Register | null {
  const path = registerPath(paths);
  const stats = accessFiles(() => statSync(path, { throwIfNoEntry: false }));
  if (stats !== undefined && stats.size > MAX_BYTES) {
    throw new AuthorityError(`${path} is too large.`);
  }
  const text = readIfExists(path);
  if (text === null) return null;
  try {
    return parseRegister(text);
  } catch (error) {
    const message = `${path} is damaged: restore it from a backup of ${paths.authority}.`;
    throw new AuthorityError(message, { cause: error });
  }
}

export function formatRegister(register: Register): string {
  return `${JSON.stringify({ format: FORMAT, ...register }, null, 2)}\n`;
}

/** @throws TypeError or SyntaxError when it is not a register */
function parseRegister(text: string): Register {
  const fields = parseFields(JSON.parse(text));
  if (fields['format'] !== FORMAT) throw new TypeError('The format is unknown.');
  return {
    domain: parseText(fields['domain']),
    address: parseNullable(fields['address'], parseText),
    revocationsNumber: parseNumber(fields['revocationsNumber']),
    nginxReloadedAt: parseNullable(fields['nginxReloadedAt'], parseTime),
    certificates: parseList(fields['certificates'], parseRecord),
  };
}

function parseRecord(value: unknown): CertificateRecord {
  const fields = parseFields(value);
  const serial = parseText(fields['serial']);
  if (!/^[0-9A-F]{2,40}$/u.test(serial)) throw new TypeError('A serial number is invalid.');
  return {
    serial,
    name: parseText(fields['name']),
    purpose: parseOneOf(fields['purpose'], ['client', 'proxy']),
    issuedAt: parseTime(fields['issuedAt']),
    expiresAt: parseTime(fields['expiresAt']),
    revokedAt: parseNullable(fields['revokedAt'], parseTime),
    isPending: parseFlag(fields['isPending']),
  };
}

/**
 * Whether client certificates were issued or revoked after an earlier state of the register, so that restoring it would lose them.
 * @param earlier the text of the register; null without one
 * @throws AuthorityError when the present register is damaged
 */
export function hasIssuedSince(paths: AuthorityPaths, earlier: string | null): boolean {
  const earlierRecords = earlier === null ? [] : parseRegister(earlier).certificates;
  const known = new Map(earlierRecords.map((each) => [each.serial, each]));
  const present = readRegister(paths)?.certificates ?? [];
  return present.some((each) => isIssuedToClient(each) && !isSame(each, known.get(each.serial)));
}

function isSame(one: CertificateRecord, other: CertificateRecord | undefined): boolean {
  return other?.isPending === false && one.revokedAt?.getTime() === other.revokedAt?.getTime();
}
