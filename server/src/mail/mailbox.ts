/** A display name and an address; the name is empty when there is none. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Parses `Name <address>`, with or without quotes around the name, or an address alone. */
export function parseMailbox(text: string): Mailbox {
  const { name = '', address = text } =
    /^(?<name>[^<>]*)<(?<address>[^<>]+)>$/u.exec(text.trim())?.groups ?? {};
  return {
    name: name.trim().replace(/^"(?<inner>.*)"$/u, '$<inner>'),
    address: address.trim(),
  };
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/**
 * Returns the Message-ID (RFC 5322 §3.6.4) of a message.
 * @param token the part left of the `@`: letters, digits and hyphens
 * @param from the address of the sender
 */
export function formatMessageId(token: string, from: string): string {
  return `<${token}@${domainOf(from)}>`;
}

/** Returns the token of a Message-ID that {@link formatMessageId} returned. */
export function messageTokenOf(messageId: string): string {
  return messageId.slice(1, messageId.lastIndexOf('@'));
}
