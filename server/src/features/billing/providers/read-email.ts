import { parseEmail } from '@latchkey/contract';

/**
 * Reads an e-mail address that a provider tells, as the interface reads those that it is sent: what is not exactly one
 * address is not known. A display name or a list would be read by mail software as other recipients.
 */
export function readEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const parsed = parseEmail(value);
  return 'email' in parsed ? parsed.email : null;
}
