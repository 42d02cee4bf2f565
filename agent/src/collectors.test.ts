import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine } from '../test/machine.ts';
import { emptyPrograms } from '../test/programs.ts';
import { waitFor } from '../test/wait.ts';
import { openCollectors } from './collectors.ts';
import { MountProber } from './probe/mount-prober.ts';
import { BackgroundReader } from './read/background-reader.ts';

test('starts nvidia-smi with the interval of the agent', async (context) => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write('nvidia-smi', 'exec sleep 1000');
  const before = process.env['PATH'] ?? '';
  context.after(() => (process.env['PATH'] = before));
  process.env['PATH'] = `${programs.searchPath}:${before}`;
  const background = {
    prober: new MountProber(() => 0),
    reader: new BackgroundReader(() => 0),
  };
  const { gpus } = openCollectors(machine.roots, background, 5000);
  gpus?.collect(0);
  const [start] = await waitFor(() => programs.starts().length > 0 && programs.starts());
  gpus?.close?.();
  assert.match(start ?? '', / -lms 5000$/);
});
