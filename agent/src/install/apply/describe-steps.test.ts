import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { afterEdit, request, steps } from './apply-plan.fixture.ts';
import { applyPlan } from './apply-plan.ts';
import { describeSteps } from './describe-steps.ts';

/** Returns the titles of steps, without the texts of files. */
async function listTitles(plan: readonly Step[], host: FakeHost): Promise<string[]> {
  const before = host.snapshot();
  const lines = await describeSteps(plan, host.open());
  assert.deepEqual(host.snapshot(), before);
  return lines.filter((line) => !line.startsWith(' ') && line !== '');
}

test('a dry run lists every step, and changes nothing', async () => {
  using host = new FakeHost();
  const titles = await listTitles(steps, host);
  assert.equal(titles.length, steps.length);
  assert.deepEqual(
    titles.filter((title) => !title.startsWith('+ ')),
    [],
  );
});

test('a dry run of an installed plan lists no change', async () => {
  using host = new FakeHost();
  await applyPlan(request, host.open());
  const titles = await listTitles(afterEdit(steps), host);
  assert.deepEqual(
    titles.filter((title) => !title.endsWith(': already so')),
    [],
  );
});

test('a dry run lists the readers of a changed file and the steps to undo', async () => {
  using host = new FakeHost();
  await applyPlan(request, host.open());
  const changed = steps
    .filter(({ kind }) => kind !== 'edit')
    .map((step) =>
      step.kind === 'file' && [paths.nginxRoute, paths.unit].some((path) => path === step.path)
        ? { ...step, text: `# newer\n${step.text}` }
        : step,
    );
  assert.deepEqual(
    (await listTitles(changed, host)).filter((title) => !title.endsWith(': already so')),
    [
      `+ Write ${paths.nginxRoute}`,
      '+ Check and reload nginx',
      `+ Write ${paths.unit}`,
      '+ Enable and start latchkey-agent.service',
      '- Restore /etc/nginx/sites-available/other',
    ],
  );
});

test('shows the changed lines of a file with two lines around them', async () => {
  using host = new FakeHost();
  const path = '/etc/latchkey-agent/example';
  const file = { kind: 'file', path, mode: 0o644, group: 'root', keepsExisting: false } as const;
  const stays = ['b', 'c', 'd', 'e', 'f', 'g'];
  host.write(path, `${['name old', ...stays, 'name old', '}'].join('\n')}\n`);
  const text = `${['name new', ...stays, 'name new', 'more', '}'].join('\n')}\n`;
  const lines = ['- name old', '+ name new', '  b', '  c', '  …', '  f', '  g', '- name old'];
  assert.deepEqual(await describeSteps([{ ...file, text }], host.open()), [
    `+ Write ${path}`,
    ...[...lines, '+ name new', '+ more', '  }'].map((line) => `    ${line}`),
  ]);
  host.intercept = (command) => (command.startsWith('diff ') ? { code: 2 } : null);
  assert.deepEqual(await describeSteps([{ ...file, text: 'a\nb\n' }], host.open()), [
    `+ Write ${path}`,
    '    a',
    '    b',
  ]);
});
