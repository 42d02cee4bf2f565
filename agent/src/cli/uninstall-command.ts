import { Command, Option } from 'commander';

import { withExamples } from './output.ts';
import type { UninstallFlags } from './uninstall-action.ts';

/** `latchkey-agent uninstall`. What it needs is loaded only when it is used. */
export function uninstallCommand(): Command {
  const command = new Command('uninstall')
    .description(
      'Undo what installations did, so that the machine is as before; for root. Exit code 0 or 1.',
    )
    .addOption(new Option('--dry-run', 'say what would be undone, and change nothing'))
    .addOption(
      new Option(
        '--keep-configuration',
        'keep /etc/latchkey-agent, the authority for client certificates, and the user that owns them',
      ),
    )
    .addOption(new Option('--verbose', 'show each program that is run'))
    .action(async (flags: UninstallFlags) => {
      const { uninstallAgent } = await import('./uninstall-action.ts');
      await uninstallAgent(flags);
    });
  return withExamples(command, [
    ['uninstall --dry-run', 'What would be removed or brought back'],
    ['uninstall --keep-configuration', 'To install it again some day'],
  ]);
}
