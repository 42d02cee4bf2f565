import { Command } from 'commander';
import { version } from '#server/lib/version.ts';
import { jsonOption, withExamples } from './options.ts';
import { type OutputOptions, printResult } from './output.ts';

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
        () => `latchkey ${version} (Node.js ${result.node}, ${result.platform})`,
      );
    });
  return withExamples(command, [['version --json', 'The version, for a program']]);
}
