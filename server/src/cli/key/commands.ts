import { Command } from 'commander';

import { keyCreateCommand } from './create.ts';
import { keyListCommand } from './list.ts';
import { keyRevokeCommand } from './revoke.ts';
import { keyRollCommand } from './roll.ts';

/** `latchkey key …` */
export function keyCommand(): Command {
  return new Command('key')
    .description('The API keys of programs that call the service.')
    .addCommand(keyCreateCommand())
    .addCommand(keyListCommand())
    .addCommand(keyRollCommand())
    .addCommand(keyRevokeCommand());
}
