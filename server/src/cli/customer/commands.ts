import { Command } from 'commander';

import { customerEraseCommand } from './erase.ts';
import { customerExportCommand } from './export.ts';
import { customerShowCommand } from './show.ts';

/** `latchkey customer …` */
export function customerCommand(): Command {
  return new Command('customer')
    .description(
      'Show, export and erase everything that is held about the owner of an e-mail address.',
    )
    .addCommand(customerShowCommand())
    .addCommand(customerExportCommand())
    .addCommand(customerEraseCommand());
}
