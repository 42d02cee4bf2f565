import { Command } from 'commander';

import { secretRotateCommand } from './rotate.ts';

/** `latchkey secret …` */
export function secretCommand(): Command {
  return new Command('secret')
    .description('The master secret that keys and personal data are stored under.')
    .addCommand(secretRotateCommand());
}
