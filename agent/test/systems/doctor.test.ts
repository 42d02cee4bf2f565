/** Each trouble of an installed agent, brought about on a whole system: the doctor finds it by looking, and names it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { Type } from 'typebox';
import { Value } from 'typebox/value';

import { type Ailment, PROXY_AILMENTS, STANDALONE_AILMENTS } from './ailments.ts';
import type { Cell } from './cells.ts';
import { expectSuccess } from './commands.ts';
import { Installation } from './installation.ts';
import { whySystemsCannotRun } from './lacks.ts';
import { unpackPackages } from './packages.ts';

const skip = whySystemsCannotRun() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

const Report = Type.Object({
  healthy: Type.Boolean(),
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      state: Type.String(),
      cause: Type.Optional(Type.String()),
      fix: Type.Optional(Type.String()),
    }),
  ),
});
type Report = ReturnType<typeof parseReport>;

test('the troubles of an agent that is reached directly', { skip }, async (context) => {
  await suffer(context, STANDALONE_AILMENTS, {
    release: 'bookworm',
    webServer: 'no web server',
    mode: 'standalone',
    mutualTls: false,
    expected: 'standalone',
  });
});

test('the troubles of an agent behind nginx with mutual TLS', { skip }, async (context) => {
  await suffer(context, PROXY_AILMENTS, {
    release: 'trixie',
    webServer: 'nginx with another site',
    mode: 'proxy',
    mutualTls: true,
    expected: 'proxy',
  });
});

async function suffer(
  context: { readonly test: typeof test },
  ailments: readonly Ailment[],
  cell: Cell,
): Promise<void> {
  if (packages === null) throw new Error('There are no packages.');
  await using installation = await Installation.prepare(cell, packages);
  expectSuccess(await installation.install(packages.current));
  assertHealthy(await examine(installation));
  for (const ailment of ailments) {
    await context.test(ailment.symptom, async () => {
      await ailment.arrange(installation);
      const { healthy, findings } = await examine(installation);
      const found = findings.find(({ check }) => check === ailment.check);
      assert.match(found?.cause ?? '', ailment.cause, JSON.stringify(findings, null, 1));
      assert.deepEqual([healthy, found?.state], [false, 'problem']);
      assert.notEqual(found?.fix ?? '', '');
      await ailment.repair(installation);
      assertHealthy(await examine(installation));
    });
  }
}

async function examine({ machine }: Installation): Promise<Report> {
  const { code, stdout } = await machine.attempt(['latchkey-agent', 'doctor', '--json']);
  const report = parseReport(stdout);
  assert.equal(code, report.healthy ? 0 : 1);
  return report;
}

function parseReport(text: string) {
  return Value.Parse(Report, JSON.parse(text));
}

function assertHealthy({ findings }: Report): void {
  assert.deepEqual(
    findings.filter(({ state }) => state === 'problem'),
    [],
  );
}
