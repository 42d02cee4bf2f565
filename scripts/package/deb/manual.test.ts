import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Command } from 'commander';

import { renderManual } from './manual.ts';

test('a manual page lists the options, the visible commands, and text that roff would interpret is escaped', () => {
  const program = new Command('shop').description('Sells things.');
  program.version('1.2.3', '-V, --version', 'Print the version.');
  program.option('--currency <code>', 'The currency of prices.', 'EUR');
  program.command('sell').description('.Sell with --quick, or C:\\slow.');
  program.command('secret', { hidden: true }).description('Not listed.');
  program.command('stock').description('Manage the stock.').command('count');
  const { path, content } = renderManual(program, '1.2.3', { '/etc/shop': 'The settings.' });
  assert.equal(path, 'usr/share/man/man1/shop.1.gz');
  const text = gunzipSync(content).toString();
  assert.match(
    text,
    /^\.TH SHOP 1 \d{4}-\d\d-\d\d "shop 1\.2\.3"\n\.SH NAME\nshop \\- Sells things\n/,
  );
  assert.ok(text.includes('.SH OPTIONS\n.TP\n.B \\-V, \\-\\-version\nPrint the version.\n'));
  assert.ok(text.includes('.B \\-\\-currency <code>\nThe currency of prices. (default: "EUR")\n'));
  assert.ok(text.includes('.B \\-h, \\-\\-help\n'));
  assert.ok(text.includes('.B shop sell\n\\&.Sell with \\-\\-quick, or C:\\eslow.\n'));
  assert.ok(text.includes('.B shop stock\nManage the stock.\nSubcommands: count.\n'));
  assert.ok(text.includes('.I /etc/shop\nThe settings.\n'));
  assert.doesNotMatch(text, /secret/);
});
