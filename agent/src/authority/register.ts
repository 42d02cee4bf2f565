import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { AuthorityError, type AuthorityPlaces, codeOf } from './context.ts';

/** The state of the authority: every certificate that it signed or was about to sign. */
export interface Register {
  readonly domain: string;
  /** The address of viewers, such as `wss://db-1.example.com/latchkey`; null when unknown. */
  readonly address: string | null;
  /** The number of the revocation list of this state. */
  readonly revocationsNumber: number;
  /** When nginx was last reloaded; null when files have changed since. */
  readonly proxyToldAt: Date | null;
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
export function confirm(
  register: Register,
  serial: string,
  replaces: readonly CertificateRecord[],
  now: Date,
): Register {
  const certificates = register.certificates.map((each) =>
    each.serial === serial ? { ...each, isPending: false } : each,
  );
  return revoke({ ...register, certificates }, replaces, now);
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
  return incrementListNumber({ ...register, certificates, proxyToldAt: null });
}

/** Requests a new revocation list by incrementing its number. */
export function incrementListNumber(register: Register, atLeast = 0): Register {
  const revocationsNumber = Math.max(register.revocationsNumber, atLeast) + 1;
  return { ...register, revocationsNumber };
}

/** Returns the issued certificates of a client, oldest first. */
export function findClient(register: Register, name: string): CertificateRecord[] {
  return register.certificates.filter(
    (each) => each.purpose === 'client' && each.name === name && !each.isPending,
  );
}

export function isRevoked({ revokedAt }: CertificateRecord): boolean {
  return revokedAt !== null;
}

/** About 100,000 certificates. */
const MAX_BYTES = 32 * 1024 * 1024;

const FORMAT = 1;

export function registerPath({ authority }: AuthorityPlaces): string {
  return join(authority, 'register.json');
}

/**
 * Reads the register.
 * @returns null without a register
 * @throws AuthorityError when it is damaged
 */
export function readRegister(places: AuthorityPlaces): Register | null {
  const path = registerPath(places);
  const text = readText(path);
  if (text === null) return null;
  try {
    return parseRegisterText(text);
  } catch (error) {
    const message = `${path} is damaged: restore it from a backup of ${places.authority}.`;
    throw new AuthorityError(message, { cause: error });
  }
}

/** @throws Error when it is not a register */
export function parseRegisterText(text: string): Register {
  return parseRegister(JSON.parse(text));
}

export function formatRegister(register: Register): string {
  return `${JSON.stringify({ format: FORMAT, ...register }, null, 2)}\n`;
}

function readText(path: string): string | null {
  try {
    if (statSync(path).size > MAX_BYTES) throw new AuthorityError(`${path} is too large.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function parseRegister(json: unknown): Register {
  const { format, domain, address, revocationsNumber, proxyToldAt, certificates } =
    parseObject(json);
  if (format !== FORMAT) throw new TypeError('Unknown format.');
  if (!Array.isArray(certificates)) throw new TypeError('The certificates are missing.');
  return {
    domain: parseText(domain),
    address: orNull(address, parseText),
    revocationsNumber: parseCount(revocationsNumber),
    proxyToldAt: orNull(proxyToldAt, parseTime),
    certificates: certificates.map(parseRecord),
  };
}

function parseRecord(json: unknown): CertificateRecord {
  const { serial, name, purpose, issuedAt, expiresAt, revokedAt, isPending } = parseObject(json);
  const isHex = /^[0-9A-F]{2,40}$/u.test(parseText(serial));
  if (!isHex) throw new TypeError('A serial number is invalid.');
  if (purpose !== 'client' && purpose !== 'proxy') throw new TypeError('A purpose is unknown.');
  return {
    serial: parseText(serial),
    name: parseText(name),
    purpose,
    issuedAt: parseTime(issuedAt),
    expiresAt: parseTime(expiresAt),
    revokedAt: orNull(revokedAt, parseTime),
    isPending: isPending === true,
  };
}

function parseObject(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null) throw new TypeError('An object is missing.');
  return { ...json };
}

function parseText(json: unknown): string {
  if (typeof json !== 'string') throw new TypeError('A text is missing.');
  return json;
}

function parseCount(json: unknown): number {
  if (!Number.isSafeInteger(json)) throw new TypeError('A number is missing.');
  return Number(json);
}

function parseTime(json: unknown): Date {
  const time = new Date(parseText(json));
  if (Number.isNaN(time.getTime())) throw new TypeError('A time is invalid.');
  return time;
}

function orNull<T>(json: unknown, take: (json: unknown) => T): T | null {
  return json === null ? null : take(json);
}

/**
 * Whether client certificates were issued or revoked after an earlier state of the register, so that restoring it would lose them.
 * @param earlier the text of the register; null without one
 * @throws AuthorityError when the present register is damaged
 */
export function hasIssuedSince(places: AuthorityPlaces, earlier: string | null): boolean {
  const known = new Map(
    (earlier === null ? [] : parseRegisterText(earlier).certificates).map((each) => [
      each.serial,
      each,
    ]),
  );
  const present = readRegister(places)?.certificates ?? [];
  return present.some((each) => isClients(each) && !isSame(each, known.get(each.serial)));
}

function isClients({ purpose, isPending }: CertificateRecord): boolean {
  return purpose === 'client' && !isPending;
}

function isSame(one: CertificateRecord, other: CertificateRecord | undefined): boolean {
  return other?.isPending === false && one.revokedAt?.getTime() === other.revokedAt?.getTime();
}
