import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import type { Entry } from './journal-entry.ts';

const entry: Entry = {
  kind: 'link',
  subject: { path: '/usr/bin/latchkey-agent' },
  before: {
    paths: [{ type: 'absent', path: '/usr/bin/latchkey-agent', missing: ['/usr/bin'] }],
    facts: {},
  },
  after: null,
};
const file = `${paths.journal}/journal.jsonl`;

describe('the journal', () => {
  test('is readable by its owner only, and contains the pending change after a crash', () => {
    using host = new FakeHost();
    const { journal } = host.open();
    journal.begin();
    journal.recordBefore({ action: 'apply', entry });
    assert.deepEqual(host.open().journal.unfinished, [{ action: 'apply', entry }]);
    journal.recordAfter({ added: ['one'] });
    const after = { added: ['one'] };
    assert.deepEqual(host.open().journal.unfinished?.[0]?.entry, { ...entry, after });
    const modes = ['', '/journal.jsonl'].map(
      (path) => statSync(host.at(paths.journal + path)).mode & 0o777,
    );
    assert.deepEqual(modes, [0o700, 0o600]);
  });

  test('ignores a torn last line', () => {
    using host = new FakeHost();
    host.open().journal.begin();
    appendFileSync(host.at(file), '{"line":"before","action":"app');
    const { journal } = host.open();
    assert.deepEqual(journal.unfinished, []);
    journal.recordBefore({ action: 'apply', entry });
    assert.deepEqual(host.open().journal.unfinished, [{ action: 'apply', entry }]);
  });

  test('rejects a damaged line', () => {
    using host = new FakeHost();
    host.open().journal.begin();
    for (const damage of ['nonsense', '{}', '{"line":"done","entry":{"kind":"other"}}']) {
      writeFileSync(host.at(file), `${damage}\n`);
      assert.throws(() => host.open(), /journal\.jsonl:1 is damaged/u);
    }
  });

  test('rejects a damaged backup', () => {
    using host = new FakeHost();
    const { backups } = host.open().journal;
    const name = backups.keep(Buffer.from('before'));
    assert.equal(Buffer.from(backups.read(name)).toString(), 'before');
    assert.deepEqual(readdirSync(host.at(`${paths.journal}/backup`)), [name]);
    writeFileSync(host.at(`${paths.journal}/backup/${name}`), 'other');
    assert.throws(() => backups.read(name), /is damaged/u);
  });
});
