import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { AuthorityError, codeOf } from './authority-error.ts';
import type { AuthorityPlaces } from './context.ts';
import type { CertificateRecord, Register } from './register.ts';

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
