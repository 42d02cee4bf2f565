import { Command } from 'commander';

import { installEraseCommand } from './erase.ts';
import { installExportCommand } from './export.ts';
import { installShowCommand } from './show.ts';

/** `latchkey install …` */
export function installCommand(): Command {
  return new Command('install')
    .description('What is held about one install of the application.')
    .addCommand(installShowCommand())
    .addCommand(installExportCommand())
    .addCommand(installEraseCommand());
}
