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
