import type { X509Certificate } from 'node:crypto';

const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/** The certificates that authorities have revoked. */
export interface Revocations {
  readonly isRevoked: (certificate: X509Certificate) => boolean;
  /** When the first of the lists is out of date, and clients are refused; null when none says it. */
  readonly nextUpdate: Date | null;
}

export const noRevocations: Revocations = { isRevoked: () => false, nextUpdate: null };

interface RevocationList {
  readonly issuer: string;
  readonly serials: ReadonlySet<string>;
  readonly nextUpdate: Date | null;
}

/**
 * Reads revocation lists (RFC 5280, section 5), which Node.js checks in a handshake only: who came before must be found
 * by serial number. Their signatures are checked by the handshakes.
 * @param lists DER
 * @throws RangeError when one is no such list
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
  // What follows is signature, issuer, thisUpdate, and the rest may be missing.
  const [, issuer, , ...rest] = fields;
  if (issuer === undefined) throw new RangeError('It has no issuer.');
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

/** The issuer's bytes: names that only look alike are different. */
function issuerOf(certificate: X509Certificate): string {
  const fields = [...readElements(openSequence(openSequence(certificate.raw)))];
  // [0] version, serial number, signature, issuer; a certificate of version 1 does not say its version.
  const at = fields[0]?.tag === INTEGER ? 2 : 3;
  return fields[at]?.whole.toString('hex') ?? '';
}

function openSequence(bytes: Buffer): Buffer {
  const element = readElements(bytes).next().value;
  if (element?.tag !== SEQUENCE) throw new RangeError('It is no sequence.');
  return element.content;
}

function trimZeros(hex: string): string {
  return hex.toLowerCase().replace(/^0+/u, '');
}

/** `YYMMDDHHMMSSZ` until 2049, then with the whole year. */
function readTime({ tag, content }: Element): Date {
  const text = content.toString('latin1');
  const year = tag === GENERALIZED_TIME ? '' : Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/u.exec(year + text);
  if (parts === null) throw new RangeError('It has a time that is none.');
  const [, y, month, day, hours, minutes, seconds] = parts;
  return new Date(`${y}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
}

/** An element of DER (X.690): what the bytes of certificates and revocation lists are made of. */
interface Element {
  readonly tag: number;
  /** With its tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

const INTEGER = 0x02;
const SEQUENCE = 0x30;

/**
 * Reads the elements that stand one after the other.
 * @throws RangeError when the bytes are no DER
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
  if (start + length > bytes.length) throw new RangeError('An element is cut off.');
  const whole = bytes.subarray(offset, start + length);
  return { tag, whole, content: whole.subarray(start - offset) };
}
