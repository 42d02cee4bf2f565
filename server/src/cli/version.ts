import type { Command } from 'commander';
import { version } from '#server/lib/version.ts';
import { jsonOption, newCommand } from './options.ts';
import { type OutputOptions, printResult } from './output.ts';

export function versionCommand(): Command {
  return newCommand('version', 'Print the versions of Latchkey and Node.js.', [
    ['version --json', 'The versions as JSON'],
  ])
    .addOption(jsonOption())
    .action((options: OutputOptions) => {
      const { platform, arch, versions } = process;
      const result = { version, node: versions.node, platform: `${platform}-${arch}` };
      printResult(
        options,
        result,
        () => `latchkey ${version} (Node.js ${result.node}, ${result.platform})`,
      );
    });
}
