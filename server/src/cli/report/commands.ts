import { Command } from 'commander';

import { reportRefreshCommand } from './refresh.ts';
import { reportCommandsOf } from './report.ts';

/** `latchkey report …` */
export function reportCommand(): Command {
  const command = new Command('report').description('What usage and events come to.');
  for (const question of reportCommandsOf()) command.addCommand(question);
  return command.addCommand(reportRefreshCommand());
}
