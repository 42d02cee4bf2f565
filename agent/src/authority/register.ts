import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { AuthorityError, type AuthorityPlaces, codeOf } from './context.ts';

/** What the authority is for, and every certificate that it ever signed or was about to sign. */
export interface Register {
  readonly domain: string;
  /** What viewers connect to, such as `wss://db-1.example.com/latchkey`; null when it is not known. */
  readonly address: string | null;
  /** The number of the list of revoked certificates that belongs to this state. */
  readonly revocationsNumber: number;
  /** When nginx was last told to read its files; null when there is something that it has not read. */
  readonly proxyToldAt: Date | null;
  readonly certificates: readonly CertificateRecord[];
}

export interface CertificateRecord {
  /** In capital hexadecimal digits. */
  readonly serial: string;
  readonly name: string;
  /** For a client, or for the proxy to show to the agent. */
  readonly purpose: 'client' | 'proxy';
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  /** Written down before it is signed, and not handed out yet. */
  readonly isPending: boolean;
}

/** A certificate that is about to be signed. */
export function addPending(register: Register, record: CertificateRecord): Register {
  return { ...register, certificates: [...register.certificates, record] };
}

/** A pending certificate may be handed out, and those that it replaces are revoked. */
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

/** Revokes certificates, of which some may be so already. */
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
  return numberAnew({ ...register, certificates, proxyToldAt: null });
}

/** Calls for a new list of revoked certificates. */
export function numberAnew(register: Register, atLeast = 0): Register {
  const revocationsNumber = Math.max(register.revocationsNumber, atLeast) + 1;
  return { ...register, revocationsNumber };
}

/** The certificates of a client that were handed out, the oldest first. */
export function findClient(register: Register, name: string): CertificateRecord[] {
  return register.certificates.filter(
    (each) => each.purpose === 'client' && each.name === name && !each.isPending,
  );
}

export function isRevoked({ revokedAt }: CertificateRecord): boolean {
  return revokedAt !== null;
}

/** Some 100,000 certificates. */
const MAX_BYTES = 32 * 1024 * 1024;

const FORMAT = 1;

export function registerPath({ authority }: AuthorityPlaces): string {
  return join(authority, 'register.json');
}

/**
 * Reads the register.
 * @returns null where there is none
 * @throws AuthorityError when it is none, rather than to forget what it holds
 */
export function readRegister(places: AuthorityPlaces): Register | null {
  const path = registerPath(places);
  const text = readText(path);
  if (text === null) return null;
  try {
    return parseRegisterText(text);
  } catch (error) {
    const message = `${path} is damaged: put it back from a backup of ${places.authority}.`;
    throw new AuthorityError(message, { cause: error });
  }
}

/** @throws Error when it is no register */
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
    takeObject(json);
  if (format !== FORMAT) throw new TypeError('It has another format.');
  if (!Array.isArray(certificates)) throw new TypeError('It has no certificates.');
  return {
    domain: takeText(domain),
    address: orNull(address, takeText),
    revocationsNumber: takeCount(revocationsNumber),
    proxyToldAt: orNull(proxyToldAt, takeTime),
    certificates: certificates.map(parseRecord),
  };
}

function parseRecord(json: unknown): CertificateRecord {
  const { serial, name, purpose, issuedAt, expiresAt, revokedAt, isPending } = takeObject(json);
  const isHex = /^[0-9A-F]{2,40}$/u.test(takeText(serial));
  if (!isHex) throw new TypeError('A serial number is none.');
  if (purpose !== 'client' && purpose !== 'proxy') throw new TypeError('A purpose is not known.');
  return {
    serial: takeText(serial),
    name: takeText(name),
    purpose,
    issuedAt: takeTime(issuedAt),
    expiresAt: takeTime(expiresAt),
    revokedAt: orNull(revokedAt, takeTime),
    isPending: isPending === true,
  };
}

function takeObject(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null) throw new TypeError('An object is missing.');
  return { ...json };
}

function takeText(json: unknown): string {
  if (typeof json !== 'string') throw new TypeError('A text is missing.');
  return json;
}

function takeCount(json: unknown): number {
  if (!Number.isSafeInteger(json)) throw new TypeError('A number is missing.');
  return Number(json);
}

function takeTime(json: unknown): Date {
  const time = new Date(takeText(json));
  if (Number.isNaN(time.getTime())) throw new TypeError('A time is none.');
  return time;
}

function orNull<T>(json: unknown, take: (json: unknown) => T): T | null {
  return json === null ? null : take(json);
}

/**
 * Whether client certificates were issued or revoked after a state of the register, so that bringing that state back would
 * forget them.
 * @param earlier the text of the register then; null when there was none
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
