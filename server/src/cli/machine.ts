/** `latchkey machine`: the usage of one machine. */
import { eraseMachine } from '#server/features/analytics/installs/erase.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { requiredReasonOption } from './options.ts';
import { anyText, argument } from './parameters.ts';
import { contextCommand } from './with-context.ts';

const eraseCommand = contextCommand({
  name: 'erase',
  description:
    'Delete the usage days of a machine permanently. Reports follow within minutes; activations stay with their licenses.',
  examples: {
    'machine erase 4C4C4544-0051 --reason "request of 3 May"': 'Delete the heartbeats of all days',
  },
  parameters: [
    argument('<machine_id>', 'id of the machine in the heartbeats of the application', anyText),
    requiredReasonOption,
  ],
  async run(context, { machine_id: id, reason }) {
    const days = await eraseMachine(context, { id, actor: currentActor(), reason });
    return {
      json: { machine_id: id, erased_days: days },
      text: `Erased ${countOf(days, 'day')} of usage.`,
    };
  },
});

export const machineCommand = commandGroup('machine', 'Erase the usage data of one machine.', [
  eraseCommand,
]);
