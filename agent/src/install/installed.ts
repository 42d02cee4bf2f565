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

/**
 * @returns the installation; null when the register is damaged
 */
export function parseInstalled(text: string): InstalledFacts | null {
  const fields = readFields(parseJson(text), FIELDS);
  if (fields === null) return null;
  const [version, mode, domain, proxyPath, mutualTls, proxyByHand, files, skipsDnsCheck] = fields;
  const certificateFiles = files === null ? null : parseFiles(files);
  if (certificateFiles === undefined || typeof version !== 'string') return null;
  const flags = { mutualTls, proxyByHand, skipsDnsCheck };
  if (!areFlags(flags)) return null;
  if (mode !== 'proxy' && mode !== 'standalone') return null;
  // A plan writes them into configurations, so they are validated again.
  if (!isGood(domain, readDomain) || !isGood(proxyPath, readProxyPath)) return null;
  return { version, mode, domain, proxyPath, certificateFiles, ...flags };
}

type Flags = Pick<InstalledFacts, 'mutualTls' | 'proxyByHand' | 'skipsDnsCheck'>;

function areFlags(values: Readonly<Record<keyof Flags, unknown>>): values is Flags {
  return Object.values(values).every((each) => typeof each === 'boolean');
}

/**
 * @returns undefined when the value is no pair of files
 */
function parseFiles(value: unknown): CertificateFiles | undefined {
  const [certificate, key] = readFields(value, ['certificate', 'key']) ?? [];
  return isGood(certificate, readFile) && isGood(key, readFile) ? { certificate, key } : undefined;
}

function isGood(value: unknown, rule: Rule<string>): value is string {
  return typeof value === 'string' && 'value' in rule(value);
}

/** Returns the values of the fields in order; null when a field is missing or unknown. */
function readFields(value: unknown, names: readonly string[]): readonly unknown[] | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  const fits = fields.size === names.length && names.every((name) => fields.has(name));
  return fits ? names.map((name) => fields.get(name)) : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A truncated register is damaged.
    return null;
  }
}
