/** A parsed e-mail address in its stored form, or the reason why it is invalid. */
export type EmailResult = { readonly email: string } | { readonly fault: string };

const ATEXT = "a-zA-Z0-9_!#$%&'*+\\-/=?^`{|}~";
/** RFC 5321 dot-string, extended by RFC 6531 to letters, marks, digits and symbols beyond ASCII. */
const LOCAL_PART = new RegExp(
  `^[${ATEXT}\\u{A1}-\\u{10FFFF}]+(?:\\.[${ATEXT}\\u{A1}-\\u{10FFFF}]+)*$`,
  'u',
);
/** Unassigned, private, control, format and separator characters, which an address must not contain. */
const UNSAFE = /[\p{C}\p{Z}]/u;
const DOMAIN_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Hyphens at the ends of a label, and third and fourth in one that is not Punycode (RFC 5891 §4.2.3.1), in any script. */
const MISPLACED_HYPHEN = /(?:^|\.)(?:-|(?!xn--)[^.]{2}--)|-(?:\.|$)/u;
/** Special-use domains (RFC 6761 and similar), which never receive mail. */
const SPECIAL_USE = new Set(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test']);

/**
 * Every top-level name ends in a letter, also in Punycode. A URL parser reads one such as `0x7f` as a number
 * (WHATWG URL §3.5), and the host as an IPv4 address.
 */
const TOP_LEVEL = /^(?!0x[0-9a-f]*$).*[a-z]$/;

/** RFC 5321 §4.5.3.1, in octets. */
const MAX_ADDRESS_BYTES = 254;
const MAX_LOCAL_BYTES = 64;
const MAX_DOMAIN_BYTES = 253;

const bytes = new TextEncoder();

/**
 * Parses an e-mail address: trims it, normalizes it (NFC), and converts the domain to lower case; the local part stays as sent.
 * Rejects display names, quoted local parts, address literals, domains without a dot or of special use.
 */
export function parseEmail(text: string): EmailResult {
  // Longer than any address: rejected before the regular expressions run.
  if (text.length > 2048) return { fault: 'The email address is too long.' };
  const trimmed = text.trim().normalize('NFC');
  const at = trimmed.lastIndexOf('@');
  if (at === -1) return { fault: 'An email address must have an @-sign.' };
  const local = trimmed.slice(0, at);
  const domain = trimmed.slice(at + 1).toLowerCase();
  const fault = findLocalFault(local) ?? findDomainFault(domain);
  if (fault !== undefined) return { fault };
  const email = `${local}@${domain}`;
  return byteLength(email) > MAX_ADDRESS_BYTES
    ? { fault: 'The email address is too long.' }
    : { email };
}

function findLocalFault(local: string): string | undefined {
  if (local === '') return 'There must be something before the @-sign.';
  if (byteLength(local) > MAX_LOCAL_BYTES) {
    return 'The email address is too long before the @-sign.';
  }
  if (!LOCAL_PART.test(local) || UNSAFE.test(local) || !local.isWellFormed()) {
    return 'The email address contains invalid characters before the @-sign.';
  }
  return undefined;
}

function findDomainFault(domain: string): string | undefined {
  if (domain === '') return 'There must be something after the @-sign.';
  const ascii = toAsciiDomain(domain);
  if (ascii === undefined || MISPLACED_HYPHEN.test(domain) || !isDomainName(ascii)) {
    return 'The part after the @-sign is not a valid domain name.';
  }
  if (ascii.length > MAX_DOMAIN_BYTES) return 'The email address is too long after the @-sign.';
  if (!ascii.includes('.')) {
    return 'The part after the @-sign is not valid. It should have a period.';
  }
  const top = ascii.slice(ascii.lastIndexOf('.') + 1);
  if (!TOP_LEVEL.test(top)) {
    return 'The part after the @-sign is not valid. It is not within a valid top-level domain.';
  }
  if (SPECIAL_USE.has(top)) {
    return 'The part after the @-sign is a special-use or reserved name that cannot be used with email.';
  }
  return undefined;
}

function isDomainName(ascii: string): boolean {
  return ascii.split('.').every((label) => DOMAIN_LABEL.test(label));
}

/** Returns the domain in ASCII, as in DNS. Only non-ASCII names need the URL parser (UTS #46). */
function toAsciiDomain(domain: string): string | undefined {
  if (/^[a-z0-9.-]*$/.test(domain)) return domain;
  // Characters that the URL parser does not accept in a host name.
  if (/[\p{C}\p{Z}%/?#@:\\[\]]/u.test(domain)) return undefined;
  return URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : undefined;
}

function byteLength(text: string): number {
  return bytes.encode(text).length;
}
