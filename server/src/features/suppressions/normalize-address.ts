import { parseEmail } from '@latchkey/contract';

/**
 * The one form of all spellings of an e-mail address, to compare by and never to send to: the local part without case,
 * the domain as DNS knows it. Dots and `+` are left alone, for what they mean is the receiver's affair.
 * @throws RangeError for what is no address
 */
export function normalizeAddress(email: string): string {
  const parsed = parseEmail(email);
  if ('fault' in parsed) throw new RangeError('not an e-mail address');
  const at = parsed.email.lastIndexOf('@');
  const local = parsed.email.slice(0, at).toLowerCase().normalize('NFC');
  return `${local}@${toAsciiDomain(parsed.email.slice(at + 1))}`;
}

/** By UTS #46, as browsers do it. */
function toAsciiDomain(domain: string): string {
  return new URL(`http://${domain}`).hostname;
}
