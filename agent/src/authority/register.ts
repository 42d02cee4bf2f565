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
