import { Command } from 'commander';

import { version } from '../version.ts';
import { jsonOption, type OutputOptions, printResult, withExamples } from './output.ts';

export function versionCommand(): Command {
  const command = new Command('version')
    .description('Print the version of this program and what it runs on.')
    .addOption(jsonOption())
    .action((options: OutputOptions) => {
      const { platform, arch, versions } = process;
      const result = { version, node: versions.node, platform: `${platform}-${arch}` };
      printResult(
        options,
        result,
        () => `latchkey-agent ${version} (Node.js ${result.node}, ${result.platform})`,
      );
    });
  return withExamples(command, [['version --json', 'The version, for a program']]);
}
