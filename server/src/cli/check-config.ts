import { Command } from 'commander';
import { type Catalog, loadCatalog } from '#server/config/catalog.ts';
import { type ConfigurationReading, readConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { type DescribedSetting, describeConfiguration } from './describe-configuration.ts';
import { jsonOption, withExamples } from './option-values.ts';
import { type OutputOptions, formatTable, printNote, printResult } from './output.ts';

export function checkConfigCommand(): Command {
  const command = new Command('check-config')
    .description(
      'Check the settings and the catalogue, and print what is in effect. Nothing is made or changed.',
    )
    .addOption(jsonOption())
    .action(checkConfig);
  return withExamples(command, [
    ['check-config', 'Show every setting; secrets are only told to be set'],
    ['check-config --json', 'The same for a program; exit code 78 when something is wrong'],
  ]);
}

function checkConfig(options: OutputOptions): void {
  const reading = readConfiguration();
  const { catalog, problems } = readCatalog(reading);
  for (const warning of reading.warnings) printNote(`warning: ${warning}`);
  const all = [...reading.problems, ...problems];
  if (all.length > 0) throw new StartupError(all);

  const settings = describeConfiguration(reading.config, reading.environment);
  const products = catalog === null ? [] : [...catalog.products.keys()];
  printResult(options, toJson(settings, products, reading.warnings), () =>
    formatSettings(settings, products),
  );
}

/** The catalogue, or what is wrong with it, so that it is told together with the settings. */
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

function toJson(
  settings: readonly DescribedSetting[],
  products: readonly string[],
  warnings: readonly string[],
) {
  return {
    settings: Object.fromEntries(
      settings.map(({ name, value, origin }) => [name, { value, origin }]),
    ),
    products,
    warnings,
  };
}

function formatSettings(
  settings: readonly DescribedSetting[],
  products: readonly string[],
): string {
  const rows = settings.map(({ name, value, origin }) => [name, value, origin]);
  return `${formatTable(['setting', 'value', 'origin'], rows)}\n\nProducts: ${products.join(', ')}\nThe configuration is right.`;
}
