/** `latchkey check-config`: the settings in effect. */
import { type Catalog, loadCatalog } from '#server/config/catalog.ts';
import { describeConfiguration, type DescribedSetting } from '#server/config/describe-settings.ts';
import type { Environment } from '#server/config/env.ts';
import { type ConfigurationReading, readConfiguration } from '#server/config/load.ts';
import { findPriceWarnings } from '#server/config/price-ids.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { checkCertificates } from '#server/db/pool.ts';

import { command } from './command.ts';
import { printNote } from './output.ts';
import { formatTable } from './table.ts';

export const checkConfigCommand = command({
  name: 'check-config',
  description:
    'Check the settings and the catalogue, and print the values in effect. Changes nothing.',
  examples: {
    'check-config': 'Print every setting; secrets only as set or not set',
    'check-config --json': 'The same as JSON; exit code 78 for an invalid configuration',
  },
  run() {
    const reading = readConfiguration();
    const { config, environment } = reading;
    const { catalog, problems } = readCatalog(reading);
    const priceWarnings = catalog === null ? [] : findPriceWarnings(catalog);
    const warnings = [...reading.warnings, ...priceWarnings];
    for (const warning of warnings) printNote(`warning: ${warning}`);
    const all = [...reading.problems, ...problems, ...findCertificateProblems(environment)];
    if (all.length > 0) throw new StartupError(all);

    const settings = describeConfiguration(config, environment);
    const products = catalog === null ? [] : [...catalog.products.keys()];
    return {
      json: {
        settings: Object.fromEntries(settings.map(({ name, ...setting }) => [name, setting])),
        products,
        warnings,
      },
      text: formatSettings(settings, products),
    };
  },
});

/** Connects to nothing. */
function findCertificateProblems({ databaseUrl, replicaUrl }: Environment): readonly string[] {
  try {
    if (databaseUrl !== undefined) checkCertificates(databaseUrl, 'DATABASE_URL');
    if (replicaUrl !== undefined) checkCertificates(replicaUrl, 'LATCHKEY_REPLICA_URL');
    return [];
  } catch (error) {
    if (error instanceof StartupError) return error.problems;
    throw error;
  }
}

/** Reads the catalogue, or returns its problems, so that they are reported together with those of the settings. */
function readCatalog(reading: ConfigurationReading): {
  catalog: Catalog | null;
  problems: readonly string[];
} {
  try {
    return { catalog: loadCatalog(reading.config.catalogPath), problems: [] };
  } catch (error) {
    if (error instanceof StartupError) return { catalog: null, problems: error.problems };
    throw error;
  }
}

function formatSettings(
  settings: readonly DescribedSetting[],
  products: readonly string[],
): string {
  const rows = settings.map(({ name, value, origin }) => [name, value, origin]);
  return `${formatTable(['setting', 'value', 'origin'], rows)}\n\nProducts: ${products.join(', ')}\nThe configuration is valid.`;
}
