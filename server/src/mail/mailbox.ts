/** A name and an address. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Reads `Name <address>`, the name in quotes or not, or an address alone. */
export function parseMailbox(text: string): Mailbox {
  const { name = '', address = text } =
    /^\s*(?<name>[^<>]*?)\s*<(?<address>[^<>]+)>\s*$/u.exec(text)?.groups ?? {};
  return {
    name: name.replace(/^"(?<inner>.*)"$/u, '$<inner>'),
    address: address.trim(),
  };
}

/** What is right of the `@`. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

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
