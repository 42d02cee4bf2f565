import { Command } from 'commander';

import { subscriberEraseCommand } from './erase.ts';
import { subscriberExportCommand } from './export.ts';
import { subscriberListCommand } from './list.ts';
import { subscriberShowCommand } from './show.ts';

/** `latchkey subscriber …` */
export function subscriberCommand(): Command {
  return new Command('subscriber')
    .description('Those who asked for news.')
    .addCommand(subscriberListCommand())
    .addCommand(subscriberShowCommand())
    .addCommand(subscriberExportCommand())
    .addCommand(subscriberEraseCommand());
}
