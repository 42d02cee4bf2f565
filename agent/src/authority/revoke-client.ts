import { formatDate, withAuthority } from './authority.ts';
import { AuthorityError } from './authority-error.ts';
import type { AuthorityContext } from './context.ts';
import { type CertificateRecord, findClient, isRevoked, revoke } from './register.ts';

/**
 * Revokes every certificate of a client.
 * @returns those that were revoked now
 * @throws AuthorityError when the name is not known, or nothing is left to revoke
 */
export async function revokeClient(
  context: AuthorityContext,
  name: string,
): Promise<readonly CertificateRecord[]> {
  return withAuthority(context, async (authority) => {
    const all = findClient(authority.register, name);
    const open = all.filter((each) => !isRevoked(each));
    if (open.length === 0) throw explainNothing(name, all);
    await authority.commit(revoke(authority.register, open, context.clock.now()));
    return open;
  });
}

function explainNothing(name: string, all: readonly CertificateRecord[]): AuthorityError {
  const revokedAt = all.at(-1)?.revokedAt;
  if (revokedAt == null) {
    const where = '"latchkey-agent client-cert list" shows the names';
    return new AuthorityError(`There is no certificate for ${name}: ${where}.`);
  }
  const day = formatDate(revokedAt);
  return new AuthorityError(`The certificate of ${name} is revoked already, since ${day}.`);
}
