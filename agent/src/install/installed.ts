import type { InstalledFacts } from './facts.ts';
import { readDomain, readProxyPath } from './option-rules.ts';

/** The register of an installation lies here, below the journal's directory. */
export const INSTALLED_FILE = 'installed.json';

const FIELDS = ['version', 'mode', 'domain', 'proxyPath', 'mutualTls'];

/** What is written down once an installation is finished. */
export function formatInstalled({
  version,
  mode,
  domain,
  proxyPath,
  mutualTls,
}: InstalledFacts): string {
  return `${JSON.stringify({ version, mode, domain, proxyPath, mutualTls }, null, 2)}\n`;
}

/** @returns what was written down; null when it is damaged, by whomever */
export function parseInstalled(text: string): InstalledFacts | null {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return null;
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  if (fields.size !== FIELDS.length || FIELDS.some((name) => !fields.has(name))) return null;
  const [version, mode, domain, proxyPath, mutualTls] = FIELDS.map((name) => fields.get(name));
  if (typeof version !== 'string' || typeof mutualTls !== 'boolean') return null;
  if (mode !== 'proxy' && mode !== 'standalone') return null;
  // What is planned from them is written into configurations, so they are held to the rules once more.
  if (typeof domain !== 'string' || !('value' in readDomain(domain))) return null;
  if (typeof proxyPath !== 'string' || !('value' in readProxyPath(proxyPath))) return null;
  return { version, mode, domain, proxyPath, mutualTls };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half a file is damage like any other.
    return null;
  }
}
