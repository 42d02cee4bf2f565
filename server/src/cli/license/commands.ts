import { Command } from 'commander';

import { licenseAllowMoveCommand } from './allow-move.ts';
import { licenseExtendCommand } from './extend.ts';
import { licenseImportCommand } from './import.ts';
import { licenseIssueCommand } from './issue.ts';
import { licenseReinstateCommand } from './reinstate.ts';
import { licenseListCommand } from './list.ts';
import { licenseRekeyCommand } from './rekey.ts';
import { licenseRevokeCommand } from './revoke.ts';
import { licenseShowCommand } from './show.ts';
import { licenseSuspendCommand } from './suspend.ts';

/** `latchkey license …` */
export function licenseCommand(): Command {
  return new Command('license')
    .description('Make, show and change licenses.')
    .addCommand(licenseIssueCommand())
    .addCommand(licenseListCommand())
    .addCommand(licenseShowCommand())
    .addCommand(licenseExtendCommand())
    .addCommand(licenseAllowMoveCommand())
    .addCommand(licenseSuspendCommand())
    .addCommand(licenseReinstateCommand())
    .addCommand(licenseRevokeCommand())
    .addCommand(licenseRekeyCommand())
    .addCommand(licenseImportCommand());
}
