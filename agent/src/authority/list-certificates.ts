import { X509Certificate } from 'node:crypto';

import { noAuthority, ownFiles, readIfThere } from './authority.ts';
import { type AuthorityContext, explainFileError } from './context.ts';
import { type CertificateRecord, readRegister } from './register.ts';

const DAY_MS = 86_400_000;

/** Users need time to install a new certificate. */
const WARNED_DAYS = 30;

/** After the authority expires, every client needs a new certificate. */
const AUTHORITY_WARNED_DAYS = 365;

export interface ListedCertificate {
  readonly record: CertificateRecord;
  readonly status: 'valid' | 'expired' | 'revoked';
}

/** The issued certificates, and warnings about those that expire soon. */
interface CertificateList {
  readonly certificates: readonly ListedCertificate[];
  readonly warnings: readonly string[];
}

/**
 * Lists the certificates by name, oldest first, without the lock.
 * @throws AuthorityError when there is no authority, or no permission
 */
export function listCertificates({ places, clock }: AuthorityContext): CertificateList {
  try {
    const register = readRegister(places);
    if (register === null) throw noAuthority();
    const now = clock.now();
    const certificates = register.certificates
      .filter(({ isPending }) => !isPending)
      .sort((a, b) => compare(a.name, b.name) || a.issuedAt.getTime() - b.issuedAt.getTime())
      .map((record) => ({ record, status: judge(record, now) }));
    const pem = readIfThere(ownFiles(places).certificateFile);
    const warnings = certificates.flatMap((each) => warn(each, now));
    return { certificates, warnings: [...warnOfAuthority(pem, now), ...warnings] };
  } catch (error) {
    throw explainFileError(error);
  }
}

function judge(
  { revokedAt, expiresAt }: CertificateRecord,
  now: Date,
): ListedCertificate['status'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'valid';
}

function warn({ record, status }: ListedCertificate, now: Date): string[] {
  const days = countDays(record.expiresAt, now);
  if (status !== 'valid' || days > WARNED_DAYS) return [];
  const fix =
    record.purpose === 'proxy'
      ? 'the timer latchkey-agent-revocations should renew it: check its log'
      : `"latchkey-agent client-cert create ${record.name}" creates a new one`;
  return [`${record.name} expires in ${days} days: ${fix}.`];
}

function warnOfAuthority(pem: string | null, now: Date): string[] {
  const days = pem === null ? Infinity : countDays(new X509Certificate(pem).validToDate, now);
  if (days > AUTHORITY_WARNED_DAYS) return [];
  return [`The authority itself expires in ${days} days, and every certificate with it.`];
}

function countDays(until: Date, now: Date): number {
  return Math.floor((until.getTime() - now.getTime()) / DAY_MS);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
