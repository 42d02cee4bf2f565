import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** RFC 1123, section 2.1: letters, digits and hyphens, at most 63, no hyphen at either end. */
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/u;

const MAX_LENGTH = 253;

/**
 * Says what is wrong with the name of a host on the internet, in the words of somebody who may have typed something near it.
 * @param name in small letters, without a dot at its end
 * @returns the rest of a sentence that begins with what the name was given as; null when it is one
 */
export function findHostNameProblem(name: string): string | null {
  const { host, extra } = splitAddress(name);
  if (extra !== null) return `must be a host name alone, without ${extra}: write ${host}`;
  if (isIP(name.replaceAll(/[[\]]/gu, '')) !== 0) {
    return 'must be a name and no address, because certificates are issued for names';
  }
  if (name.startsWith('*.'))
    return `must be one name and no wildcard, such as monitor.${name.slice(2)}`;
  if (!/^\p{ASCII}*$/u.test(name)) return explainUnicode(name);
  return isHostName(name) ? null : explainForm(name);
}

function splitAddress(name: string): { readonly host: string; readonly extra: string | null } {
  const scheme = /^[a-z][a-z\d+.-]*:\/\//u.exec(name)?.[0] ?? '';
  const host = name
    .slice(scheme.length)
    .replace(/[/?#].*$/u, '')
    .replace(/^.*@/u, '');
  const port = /^[^:]+(?<port>:\d*)$/u.exec(host)?.groups?.['port'] ?? '';
  const alone = host.slice(0, host.length - port.length);
  if (!isHostName(alone)) return { host: alone, extra: null };
  if (scheme !== '') return { host: alone, extra: scheme };
  if (host !== name) return { host: alone, extra: 'a path' };
  return { host: alone, extra: port === '' ? null : 'a port' };
}

function isHostName(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= MAX_LENGTH &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    // RFC 1123 again: else nothing would tell a name from an address.
    !/^\d+$/u.test(labels.at(-1) ?? '')
  );
}

function explainUnicode(name: string): string {
  const encoded = domainToASCII(name);
  const hint = isHostName(encoded) ? `: write ${encoded}` : '';
  return `must be written in the letters of the DNS (punycode)${hint}`;
}

function explainForm(name: string): string {
  if (!name.includes('.'))
    return 'must be a full name, such as monitor.example.com, and no single word';
  return 'must have parts of letters, digits and hyphens, 63 at most in each and 253 in all, such as monitor.example.com';
}
