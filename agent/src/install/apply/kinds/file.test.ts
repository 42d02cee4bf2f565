import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { paths } from '../../paths.ts';
import { applyPlan } from '../apply-plan.ts';
import { uninstall } from '../undo.ts';

function order(text: string, verify = async () => undefined as void) {
  const access = { mode: 0o640, group: 'root', keepsExisting: false };
  const step = { kind: 'file', path: paths.configuration, text, ...access } as const;
  return { steps: [step], installed: '{}\n', verify };
}

const EDITED = 'listen: 0.0.0.0:4096\ntokens_file: /etc/own\n';

test('keeps the previous configuration until everything is undone', async () => {
  using host = new FakeHost();
  const untouched = host.snapshot();
  await applyPlan(order('listen: 0.0.0.0:4096\n'), host.open());
  assert.equal(host.has(paths.configurationBefore), false);
  host.write(paths.configuration, EDITED);
  const broken = order('listen: 127.0.0.1:4096\n', () => Promise.reject(new Error('no')));
  await assert.rejects(applyPlan(broken, host.open()), { message: 'no' });
  assert.deepEqual(
    [host.read(paths.configuration), host.has(paths.configurationBefore)],
    [EDITED, false],
  );
  await applyPlan(order('listen: 127.0.0.1:4096\n'), host.open());
  assert.equal(host.read(paths.configuration), 'listen: 127.0.0.1:4096\n');
  assert.equal(host.read(paths.configurationBefore), EDITED);
  await uninstall({ keepsConfiguration: false }, host.open());
  assert.deepEqual(host.snapshot(), untouched);
});
