import type { X509Certificate } from 'node:crypto';

import { type Element, INTEGER, readElements, readSignedFields, SEQUENCE } from './der.ts';

const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/** Why a certificate is rejected by the lists: it is revoked, its authority has no list, or has only lists that expired. */
export type RevocationFault = 'revoked' | 'unlisted' | 'outdated';

/** Revoked certificates. */
export interface Revocations {
  /** Checks a certificate against the lists of its issuer; null when it is valid. */
  readonly findFault: (certificate: X509Certificate, now: Date) => RevocationFault | null;
  /** When the first list expires, so that clients are rejected; null when none has a date. */
  readonly nextUpdate: Date | null;
}

export const noRevocations: Revocations = { findFault: () => null, nextUpdate: null };

interface RevocationList {
  readonly issuer: string;
  readonly serials: ReadonlySet<string>;
  readonly nextUpdate: Date | null;
}

/**
 * Parses revocation lists (RFC 5280, section 5). Node.js checks them only in handshakes, and neither those of connected clients nor
 * those that a proxy names. Handshakes check the signatures of the lists.
 * @param lists DER
 * @throws RangeError when one is not a revocation list
 */
export function readRevocations(lists: readonly Buffer[]): Revocations {
  const read = lists.map(readList);
  const updates = read.flatMap(({ nextUpdate }) => nextUpdate?.getTime() ?? []);
  return {
    nextUpdate: updates.length === 0 ? null : new Date(Math.min(...updates)),
    findFault(certificate, now) {
      const issuer = issuerOf(certificate);
      const own = read.filter((list) => list.issuer === issuer);
      if (own.length === 0) return 'unlisted';
      const serial = trimZeros(certificate.serialNumber);
      if (own.some(({ serials }) => serials.has(serial))) return 'revoked';
      return own.every(({ nextUpdate }) => nextUpdate !== null && nextUpdate < now)
        ? 'outdated'
        : null;
    },
  };
}

function readList(bytes: Buffer): RevocationList {
  const fields = readSignedFields(bytes);
  if (fields[0]?.tag === INTEGER) fields.shift();
  // Signature, issuer and thisUpdate; the rest is optional.
  const [, issuer, , ...rest] = fields;
  if (issuer === undefined) throw new RangeError('The list has no issuer.');
  const nextUpdate = rest.find(({ tag }) => tag === UTC_TIME || tag === GENERALIZED_TIME);
  const entries = rest.find(({ tag }) => tag === SEQUENCE);
  return {
    issuer: issuer.whole.toString('hex'),
    serials: new Set(entries === undefined ? [] : readSerials(entries)),
    nextUpdate: nextUpdate === undefined ? null : readTime(nextUpdate),
  };
}

function* readSerials(entries: Element): Generator<string> {
  for (const entry of readElements(entries.content)) {
    const serial = readElements(entry.content).next().value;
    if (serial?.tag !== INTEGER) throw new RangeError('An entry has no serial number.');
    yield trimZeros(serial.content.toString('hex'));
  }
}

/** Returns the issuer's bytes, so that similar names stay different. */
function issuerOf(certificate: X509Certificate): string {
  const fields = readSignedFields(certificate.raw);
  // [0] version, serial number, signature, issuer; version 1 has no version field.
  const at = fields[0]?.tag === INTEGER ? 2 : 3;
  return fields[at]?.whole.toString('hex') ?? '';
}

function trimZeros(hex: string): string {
  return hex.toLowerCase().replace(/^0+/u, '');
}

/** Parses `YYMMDDHHMMSSZ`, or from 2050 a time with a four-digit year. */
function readTime({ tag, content }: Element): Date {
  const text = content.toString('latin1');
  const year = tag === GENERALIZED_TIME ? '' : Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/u.exec(year + text);
  if (parts === null) throw new RangeError('A time is invalid.');
  const [, y, month, day, hours, minutes, seconds] = parts;
  return new Date(`${y}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
}
