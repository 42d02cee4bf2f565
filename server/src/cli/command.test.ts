import assert from 'node:assert/strict';
import { test } from 'node:test';

import { command } from './command.ts';
import { anyText, argument, choice, flag, option, optionalArgument } from './parameters.ts';

async function parse(...args: string[]): Promise<unknown> {
  let received: unknown;
  const build = command({
    name: 'pack',
    description: 'Pack a box.',
    examples: {},
    parameters: [
      argument('<box>', 'name', anyText),
      optionalArgument('[label]', 'text', anyText),
      option('--max-weight <kg>', 'weight', Number),
      choice('--size <size>', 'size', ['small', 'large']).default('small'),
      flag('--dry-run', 'change nothing'),
      flag('--no-seal', 'leave it open'),
      option('--by <name>', 'packer', anyText).required(),
    ],
    run: (values) => {
      received = values;
    },
  });
  await build()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parseAsync(args, { from: 'user' });
  return received;
}

test('passes values by the names of their parameters, and null or false for missing ones', async () => {
  assert.deepEqual(await parse('a', '--by', 'ann'), {
    box: 'a',
    label: null,
    maxWeight: null,
    size: 'small',
    dryRun: false,
    seal: true,
    by: 'ann',
    json: false,
  });
  const given = ['a', 'b', '--max-weight', '7', '--size', 'large', '--dry-run', '--no-seal'];
  assert.deepEqual(await parse(...given, '--by', 'ann', '--json'), {
    box: 'a',
    label: 'b',
    maxWeight: 7,
    size: 'large',
    dryRun: true,
    seal: false,
    by: 'ann',
    json: true,
  });
});

test('requires arguments and required options', async () => {
  await assert.rejects(parse('--by', 'ann'), { code: 'commander.missingArgument' });
  await assert.rejects(parse('a'), { code: 'commander.missingMandatoryOptionValue' });
});
