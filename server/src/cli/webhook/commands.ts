import { Command } from 'commander';

import { webhookDismissCommand } from './dismiss.ts';
import { webhookListCommand } from './list.ts';
import { webhookReconcileCommand } from './reconcile.ts';
import { webhookReplayCommand } from './replay.ts';

/** `latchkey webhook …` */
export function webhookCommand(): Command {
  return new Command('webhook')
    .description('The events that payment providers have sent.')
    .addCommand(webhookListCommand())
    .addCommand(webhookReplayCommand())
    .addCommand(webhookDismissCommand())
    .addCommand(webhookReconcileCommand());
}
