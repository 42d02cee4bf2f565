import { Command } from 'commander';

import { machineEraseCommand } from './erase.ts';

/** `latchkey machine …` */
export function machineCommand(): Command {
  return new Command('machine')
    .description('What is held about the use of one machine.')
    .addCommand(machineEraseCommand());
}
