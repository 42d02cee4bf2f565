import { parseFields, parseFlag, parseNullable, parseOneOf, parseText } from '../system/json.ts';
import type { CertificateFiles, InstalledFacts } from './facts.ts';
import { readDomain, readFile, readProxyPath, type Rule } from './option-rules.ts';

/** The register of an installation, in the journal's directory. */
export const INSTALLED_FILE = 'installed.json';

const FIELDS = [
  'version',
  'mode',
  'domain',
  'proxyPath',
  'mutualTls',
  'proxyByHand',
  'certificateFiles',
  'skipsDnsCheck',
];

export function formatInstalled(facts: InstalledFacts): string {
  return `${JSON.stringify(facts, [...FIELDS, 'certificate', 'key'], 2)}\n`;
}

/** Parses the register; null when it is damaged. */
export function parseInstalled(text: string): InstalledFacts | null {
  try {
    return parseFacts(JSON.parse(text));
  } catch {
    // A damaged register, which the caller reports.
    return null;
  }
}

/** @throws TypeError when it is damaged */
function parseFacts(value: unknown): InstalledFacts {
  const fields = parseFields(value);
  const isKnown = Object.keys(fields).every((name) => FIELDS.includes(name));
  if (!isKnown) throw new TypeError('A field is unknown.');
  return {
    version: parseText(fields['version']),
    mode: parseOneOf(fields['mode'], ['proxy', 'standalone']),
    // A plan writes texts into configurations, so they are validated again.
    domain: parseValid(fields['domain'], readDomain),
    proxyPath: parseValid(fields['proxyPath'], readProxyPath),
    mutualTls: parseFlag(fields['mutualTls']),
    proxyByHand: parseFlag(fields['proxyByHand']),
    certificateFiles: parseNullable(fields['certificateFiles'], parseFiles),
    skipsDnsCheck: parseFlag(fields['skipsDnsCheck']),
  };
}

function parseFiles(value: unknown): CertificateFiles {
  const { certificate, key } = parseFields(value);
  return { certificate: parseValid(certificate, readFile), key: parseValid(key, readFile) };
}

function parseValid(value: unknown, rule: Rule<string>): string {
  const text = parseText(value);
  if ('problem' in rule(text)) throw new TypeError('A text is invalid.');
  return text;
}
