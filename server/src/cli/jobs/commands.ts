import { Command } from 'commander';

import { jobsListCommand } from './list.ts';
import { jobsRetryCommand } from './retry.ts';

/** `latchkey jobs …` */
export function jobsCommand(): Command {
  return new Command('jobs')
    .description('What the service does by itself: mail to send, customers to look up.')
    .addCommand(jobsListCommand())
    .addCommand(jobsRetryCommand());
}
