import { Command } from 'commander';

import { suppressionAddCommand, suppressionRemoveCommand } from './change.ts';
import { suppressionListCommand } from './list.ts';

/** `latchkey suppression …` */
export function suppressionCommand(): Command {
  return new Command('suppression')
    .description('The addresses that get no newsletter and no outreach.')
    .addCommand(suppressionListCommand())
    .addCommand(suppressionAddCommand())
    .addCommand(suppressionRemoveCommand());
}
