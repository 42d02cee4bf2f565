import { Command } from 'commander';
import { allowMoves } from '#server/features/licenses/change-license.ts';
import { jsonOption, reasonOption, wholeNumber, withExamples } from '../option-values.ts';
import { licenseArgument } from './argument.ts';
import { type ChangeOptions, runChange } from './change.ts';

interface AllowMoveOptions extends ChangeOptions {
  readonly count: number;
}

export function licenseAllowMoveCommand(): Command {
  const command = new Command('allow-move')
    .description(
      'Allow a license one more machine than its limit of moves (409 move_limit_reached).',
    )
    .addArgument(licenseArgument())
    .option('--count <n>', 'how many machines more, each once', wholeNumber(1, 1_000), 1)
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(allowMove);
  return withExamples(command, [
    ['license allow-move LK-… --reason "laptop was stolen"', 'One more machine'],
    ['license allow-move LK-… --count 5 --reason "new classroom"', 'Five more'],
  ]);
}

async function allowMove(argument: string, options: AllowMoveOptions): Promise<void> {
  await runChange(argument, options, (ctx, change) => allowMoves(ctx, change, options.count));
}
