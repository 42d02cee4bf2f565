import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import { listConfigurationFaults } from './check-kept-configuration.ts';

test('a configuration that stays must be one that the agent starts with', async () => {
  using host = new FakeHost();
  const path = host.at(paths.configuration);
  assert.deepEqual(await listConfigurationFaults(path), [], 'none is there');
  host.write(paths.configuration, 'nonsense: [\n');
  const faults = await listConfigurationFaults(path);
  assert.match(faults[0] ?? '', /agent\.yaml:\d/u);
  assert.match(faults.at(-1) ?? '', /^The agent would not start .* run this again\.$/u);
  const files = 'certificate_file: /a.pem\n  key_file: /a.key\n';
  host.write(paths.configuration, `listen: 127.0.0.1:4096\ntls:\n  ${files}`);
  assert.deepEqual(await listConfigurationFaults(path), []);
});
