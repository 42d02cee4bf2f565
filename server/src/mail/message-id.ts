import { domainOf } from './parse-mailbox.ts';

/**
 * The Message-ID (RFC 5322 §3.6.4) of a message.
 * @param token the part left of the `@`: letters, digits and hyphens
 * @param from the address that the message comes from
 */
export function makeMessageId(token: string, from: string): string {
  return `<${token}@${domainOf(from)}>`;
}

/** The token that an id was made of. */
export function readTokenOf(messageId: string): string {
  return messageId.slice(1, messageId.lastIndexOf('@'));
}
