import type { X509Certificate } from 'node:crypto';

const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/** Revoked certificates. */
export interface Revocations {
  readonly isRevoked: (certificate: X509Certificate) => boolean;
  /** When the first list expires, so that clients are rejected; null when none has a date. */
  readonly nextUpdate: Date | null;
}

export const noRevocations: Revocations = { isRevoked: () => false, nextUpdate: null };

interface RevocationList {
  readonly issuer: string;
  readonly serials: ReadonlySet<string>;
  readonly nextUpdate: Date | null;
}

/**
 * Parses revocation lists (RFC 5280, section 5). Node.js checks them only in handshakes, so connected clients are found by serial
 * number. Handshakes check the signatures.
 * @param lists DER
 * @throws RangeError when one is not a revocation list
 */
export function readRevocations(lists: readonly Buffer[]): Revocations {
  const read = lists.map(readList);
  const updates = read.flatMap(({ nextUpdate }) => nextUpdate?.getTime() ?? []);
  return {
    nextUpdate: updates.length === 0 ? null : new Date(Math.min(...updates)),
    isRevoked(certificate) {
      const issuer = issuerOf(certificate);
      const serial = trimZeros(certificate.serialNumber);
      return read.some((list) => list.issuer === issuer && list.serials.has(serial));
    },
  };
}

function readList(bytes: Buffer): RevocationList {
  const fields = [...readElements(openSequence(openSequence(bytes)))];
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
  const fields = [...readElements(openSequence(openSequence(certificate.raw)))];
  // [0] version, serial number, signature, issuer; version 1 has no version field.
  const at = fields[0]?.tag === INTEGER ? 2 : 3;
  return fields[at]?.whole.toString('hex') ?? '';
}

function openSequence(bytes: Buffer): Buffer {
  const element = readElements(bytes).next().value;
  if (element?.tag !== SEQUENCE) throw new RangeError('The element is not a sequence.');
  return element.content;
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

/** An element of DER (X.690), the encoding of certificates and revocation lists. */
interface Element {
  readonly tag: number;
  /** Including tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

const INTEGER = 0x02;
const SEQUENCE = 0x30;

/**
 * Parses successive elements.
 * @throws RangeError when the bytes are not DER
 */
function* readElements(bytes: Buffer): Generator<Element> {
  let offset = 0;
  while (offset < bytes.length) {
    const element = readElement(bytes, offset);
    yield element;
    offset += element.whole.length;
  }
}

function readElement(bytes: Buffer, offset: number): Element {
  const tag = bytes.readUInt8(offset);
  const first = bytes.readUInt8(offset + 1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  if (lengthBytes > 4) throw new RangeError('An element is longer than 4 GiB.');
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(offset + 2, lengthBytes);
  if (start + length > bytes.length) throw new RangeError('An element is truncated.');
  const whole = bytes.subarray(offset, start + length);
  return { tag, whole, content: whole.subarray(start - offset) };
}
