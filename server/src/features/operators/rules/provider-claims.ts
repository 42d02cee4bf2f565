import {
  isStorableText,
  MAX_NAME_LENGTH,
  OPERATOR_ROLES,
  type OperatorRole,
} from '@latchkey/contract';

/** A value of a claim or an e-mail address, and the role that it assigns. */
interface RoleRule {
  readonly role: OperatorRole;
  readonly value: string;
}

/** The person that a provider signed in. */
export interface ProviderIdentity {
  /** Issuer and subject. */
  readonly subject: string;
  /** Null unless the provider verified it. */
  readonly email: string | null;
  readonly name: string | null;
  /** Null: the person is no operator. */
  readonly role: OperatorRole | null;
  /** When the person signed in at the provider; null if it does not state a time that can be true. */
  readonly signedInAt: Date | null;
}

/**
 * Reads who was signed in.
 * @param claims of the ID token and of the user info
 * @param claim the claim with the values of the rules
 * @param nowSeconds by the clock of this machine
 */
export function readIdentity(
  claims: Readonly<Record<string, unknown>>,
  claim: string,
  rules: readonly RoleRule[],
  nowSeconds: number,
): ProviderIdentity {
  const { iss, sub, email, email_verified: isVerified, name, auth_time: authTime } = claims;
  const address = isVerified === true ? readAddress(email) : null;
  const values = new Set([claims[claim]].flat());
  const isHeld = ({ value }: RoleRule): boolean =>
    value.includes('@') ? value.toLowerCase() === address?.toLowerCase() : values.has(value);
  const held = new Set(rules.filter(isHeld).map(({ role }) => role));
  return {
    subject: `${String(iss)} ${String(sub)}`,
    email: address,
    name: readName(name),
    role: OPERATOR_ROLES.findLast((role) => held.has(role)) ?? null,
    signedInAt: readSignInTime(authTime, nowSeconds),
  };
}

/** What the clocks may differ by, in seconds; openid-client allows the same to times in the past. */
const CLOCK_TOLERANCE = 30;

/** A time in the future would be fresh for longer than a proof is. */
function readSignInTime(authTime: unknown, nowSeconds: number): Date | null {
  if (typeof authTime !== 'number' || !(authTime >= 0)) return null;
  return authTime <= nowSeconds + CLOCK_TOLERANCE ? new Date(authTime * 1000) : null;
}

/** Without separators and control characters: the address is one word of the actor in the audit log. */
const WORD = /^[^\p{C}\p{Z}]+$/u;
const MAX_LOCAL_PART_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 253;

function readAddress(email: unknown): string | null {
  if (typeof email !== 'string') return null;
  const at = email.lastIndexOf('@');
  const domainLength = email.length - at - 1;
  const isAddress =
    at >= 1 &&
    at <= MAX_LOCAL_PART_LENGTH &&
    domainLength >= 1 &&
    domainLength <= MAX_DOMAIN_LENGTH;
  return isAddress && WORD.test(email) ? email : null;
}

function readName(name: unknown): string | null {
  if (typeof name !== 'string' || name.trim() === '' || !isStorableText(name)) return null;
  return name.trim().slice(0, MAX_NAME_LENGTH);
}
