import { Command } from 'commander';

import { endpointAddCommand } from './add.ts';
import { endpointDisableCommand, endpointEnableCommand, endpointRemoveCommand } from './change.ts';
import { endpointListCommand } from './list.ts';
import { endpointLogCommand } from './log.ts';
import { endpointReplayCommand } from './replay.ts';
import { endpointRollCommand } from './roll.ts';
import { endpointTestCommand } from './test.ts';

/** `latchkey endpoint …` */
export function endpointCommand(): Command {
  return new Command('endpoint')
    .description('The programs that are told of events, by outgoing webhooks.')
    .addCommand(endpointAddCommand())
    .addCommand(endpointListCommand())
    .addCommand(endpointTestCommand())
    .addCommand(endpointLogCommand())
    .addCommand(endpointReplayCommand())
    .addCommand(endpointRollCommand())
    .addCommand(endpointDisableCommand())
    .addCommand(endpointEnableCommand())
    .addCommand(endpointRemoveCommand());
}
