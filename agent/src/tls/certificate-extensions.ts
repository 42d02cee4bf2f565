import type { X509Certificate } from 'node:crypto';

import { INTEGER, openSequence, readElements, readSignedFields, SEQUENCE } from './der.ts';

const BOOLEAN = 0x01;
const OCTET_STRING = 0x04;
/** `[3] EXPLICIT`, the field of a certificate that contains its extensions. */
const EXTENSIONS = 0xa3;

// RFC 5280, section 4.2.1: 2.5.29.n in DER, with the name of n.
const KEY_USAGE = '551d0f';
const BASIC_CONSTRAINTS = '551d13';
const SUBJECT_ALTERNATIVE_NAME = '551d11';
const EXTENDED_KEY_USAGE = '551d25';
const CERTIFICATE_POLICIES = '551d20';
const CRL_DISTRIBUTION_POINTS = '551d1f';

const UNDERSTOOD: ReadonlySet<string> = new Set([
  KEY_USAGE,
  BASIC_CONSTRAINTS,
  SUBJECT_ALTERNATIVE_NAME,
  EXTENDED_KEY_USAGE,
  CERTIFICATE_POLICIES,
  CRL_DISTRIBUTION_POINTS,
]);

/** The bits of the first byte of a key usage. */
const DIGITAL_SIGNATURE = 0x80;
const KEY_AGREEMENT = 0x08;

/** What the extensions of a certificate permit, as far as Node.js does not read it. */
export interface CertificateExtensions {
  /** Whether the key may sign a handshake, or agree on a key in it. */
  readonly allowsHandshake: boolean;
  /** How many intermediate certificates an authority allows below itself. */
  readonly maxDepth: number;
  /** Whether a critical extension is not understood, so that the certificate must be rejected (RFC 5280, section 4.2). */
  readonly hasUnknownCritical: boolean;
}

/**
 * Reads the extensions of a certificate.
 * @throws RangeError when they are not DER
 */
export function readExtensions(certificate: X509Certificate): CertificateExtensions {
  const extensions = listExtensions(certificate.raw);
  const valueOf = (id: string): Buffer | undefined =>
    extensions.find((each) => each.id === id)?.value;
  const [keyUsage, constraints] = [valueOf(KEY_USAGE), valueOf(BASIC_CONSTRAINTS)];
  return {
    allowsHandshake: keyUsage === undefined || allowsHandshake(keyUsage),
    maxDepth: constraints === undefined ? Number.POSITIVE_INFINITY : readMaxDepth(constraints),
    hasUnknownCritical: extensions.some(({ id, isCritical }) => isCritical && !UNDERSTOOD.has(id)),
  };
}

interface Extension {
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

function listExtensions(certificate: Buffer): Extension[] {
  const field = readSignedFields(certificate).find(({ tag }) => tag === EXTENSIONS);
  if (field === undefined) return [];
  return [...readElements(openSequence(field.content))].map(({ content }) => {
    const [id, ...rest] = readElements(content);
    const value = rest.find(({ tag }) => tag === OCTET_STRING);
    if (id === undefined || value === undefined) throw new RangeError('An extension has no value.');
    const critical = rest.find(({ tag }) => tag === BOOLEAN)?.content.at(0) ?? 0;
    return { id: id.content.toString('hex'), isCritical: critical !== 0, value: value.content };
  });
}

/** A bit string; its first byte is the number of unused bits. */
function allowsHandshake(keyUsage: Buffer): boolean {
  const bits = readElements(keyUsage).next().value?.content.at(1) ?? 0;
  return (bits & (DIGITAL_SIGNATURE | KEY_AGREEMENT)) !== 0;
}

function readMaxDepth(constraints: Buffer): number {
  const element = readElements(constraints).next().value;
  if (element?.tag !== SEQUENCE) throw new RangeError('The basic constraints are not a sequence.');
  const depth = [...readElements(element.content)].find(({ tag }) => tag === INTEGER);
  return depth === undefined
    ? Number.POSITIVE_INFINITY
    : Number(`0x${depth.content.toString('hex')}`);
}
