import type { AuthorityPlaces } from './context.ts';
import { parseRegisterText, readRegister } from './register-file.ts';
import type { CertificateRecord } from './register.ts';

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
