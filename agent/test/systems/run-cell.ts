/** The life of an installation: installed, installed again, renewed, upgraded, removed. */
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';

import { sendRequest, type Credentials } from './request.ts';
import type { Cell } from './cells.ts';
import { checkOwnPage, checkRefused, checkWire, HEALTH_URL, streamUrl } from './check-wire.ts';
import { checkService } from './check-service.ts';
import { expectSuccess, type Outcome } from './commands.ts';
import { Installation } from './installation.ts';
import type { Packages } from './packages.ts';
import { compareSnapshots, takeSnapshot } from './snapshot.ts';
import { DOMAIN } from './web-servers.ts';

/** Beside certbot's own time. */
const MAX_INSTALL_SECONDS = 20;
const MAX_AGAIN_SECONDS = 5;

const CODES = { manual: 3, refused: 1 };

type Report = (line: string) => void;

export async function runCell(cell: Cell, packages: Packages, report: Report): Promise<void> {
  await using installation = await Installation.prepare(cell, packages);
  if (cell.expected === 'manual' || cell.expected === 'refused')
    await testRefusal(installation, packages, CODES[cell.expected]);
  else await testLifeCycle(installation, packages, report);
}

async function testRefusal(
  installation: Installation,
  packages: Packages,
  code: number,
): Promise<void> {
  const { machine } = installation;
  const before = takeSnapshot(machine);
  const outcome = await installation.install(packages.current);
  assert.equal(outcome.code, code, describeOutcome(outcome));
  assert.match(outcome.stdout + outcome.stderr, /port \d+|start nginx/i);
  assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: true }), []);
  await checkOwnPage(installation);
}

async function testLifeCycle(
  installation: Installation,
  packages: Packages,
  report: Report,
): Promise<void> {
  const { machine, cell } = installation;
  const before = takeSnapshot(machine);
  expectSuccess(await installation.install(packages.current, ['--dry-run']));
  assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: true }), []);
  await install(installation, packages, report);
  const client = cell.mutualTls ? await installation.createClient('viewer') : null;
  await checkWire(installation, client);
  await checkService(installation, client);
  if (cell.mutualTls) await revoke(installation);
  if (cell.expected === 'proxy') await stopAgent(installation, client);
  await installAgain(installation, packages, report);
  if (!installation.usesOwnCertificate) await renew(installation, client);
  await upgrade(installation, packages);
  await machine.stop();
  await machine.start();
  await checkWire(installation, client);
  await machine.succeed(['rm', '-rf', '/root/viewer', '/root/viewer.tar.gz']);
  expectSuccess(await installation.uninstall());
  assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: false }), []);
  await checkOwnPage(installation);
  const { status } = await sendRequest(machine.sandbox, streamUrl(installation), {
    ca: installation.ca,
  });
  assert.equal(status, installation.usesOwnCertificate ? 404 : 0);
}

async function install(
  installation: Installation,
  { current }: Packages,
  report: Report,
): Promise<void> {
  const outcome = expectSuccess(await installation.install(current));
  const certbotSeconds = readCertbotSeconds(installation);
  const ownSeconds = outcome.seconds - certbotSeconds;
  report(`installed in ${ownSeconds.toFixed(1)} s and ${certbotSeconds.toFixed(1)} s of certbot`);
  assert.ok(ownSeconds < stretch(MAX_INSTALL_SECONDS), describeOutcome(outcome));
}

/** With more runnable programs than processors, everything takes proportionally longer. */
function stretch(seconds: number): number {
  const [lastMinute = 0] = loadavg();
  return seconds * Math.max(1, lastMinute / availableParallelism());
}

/** Returns the seconds from the first to the last line of its log; zero without one. */
function readCertbotSeconds({ machine }: Installation): number {
  const log = machine.readIfThere('/var/log/letsencrypt/letsencrypt.log') ?? '';
  const times = [...log.matchAll(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}):/gm)].map(
    ([, day, time, ms]) => Date.parse(`${day}T${time}.${ms}Z`),
  );
  return ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
}

/** Checks that a revoked certificate is refused like a missing one, and only on the agent's route. */
async function revoke(installation: Installation): Promise<void> {
  const { machine } = installation;
  const revoked = await installation.createClient('revoked');
  await machine.succeed(['latchkey-agent', 'client-cert', 'revoke', 'revoked']);
  await checkRefused(installation, revoked);
  if (installation.cell.expected === 'proxy') {
    assert.equal((await sendRequest(machine.sandbox, HEALTH_URL, revoked)).status, 200);
  }
  await machine.succeed(['rm', '-r', '/root/revoked', '/root/revoked.tar.gz']);
}

/** Checks that the route fails while the agent is stopped. */
async function stopAgent(installation: Installation, client: Credentials | null): Promise<void> {
  const { machine, ca } = installation;
  await machine.succeed(['systemctl', 'stop', 'latchkey-agent.service']);
  const { status } = await sendRequest(machine.sandbox, streamUrl(installation), client ?? { ca });
  assert.equal(status, 502);
  await machine.succeed(['systemctl', 'start', 'latchkey-agent.service']);
}

async function installAgain(
  installation: Installation,
  { current }: Packages,
  report: Report,
): Promise<void> {
  const { machine } = installation;
  const before = takeSnapshot(machine);
  const outcome = expectSuccess(await installation.install(current));
  assert.deepEqual(compareSnapshots(before, takeSnapshot(machine), { withTimes: true }), []);
  report(`again in ${outcome.seconds.toFixed(1)} s`);
  assert.ok(outcome.seconds < stretch(MAX_AGAIN_SECONDS), describeOutcome(outcome));
}

/** Checks that viewers get a renewed certificate without manual steps. */
export async function renew(installation: Installation, client: Credentials | null): Promise<void> {
  const { machine, ca, cell } = installation;
  const url = cell.expected === 'proxy' ? HEALTH_URL : streamUrl(installation);
  const send = () => sendRequest(machine.sandbox, url, client ?? { ca });
  const { serial } = await send();
  await machine.succeed(['certbot', 'renew', '--force-renewal', '--no-random-sleep-on-renew']);
  const live = `/etc/letsencrypt/live/${DOMAIN}/cert.pem`;
  const shown = await machine.succeed(['openssl', 'x509', '-noout', '-serial', '-in', live]);
  const renewed = await send();
  assert.equal(`serial=${renewed.serial}`, shown.trim());
  assert.notEqual(renewed.serial, serial);
}

/** Checks an upgrade: the newer program, with the changed configuration and the same certificate. */
async function upgrade(installation: Installation, { next }: Packages): Promise<void> {
  const { machine, ca } = installation;
  const path = '/etc/latchkey-agent/agent.yaml';
  const configuration = `${machine.read(path)}# changed by its owner\n`;
  machine.write(path, configuration);
  const probe = () => sendRequest(machine.sandbox, streamUrl(installation), { ca });
  const { serial } = await probe();
  expectSuccess(await installation.upgrade(next));
  assert.match(await machine.succeed(['latchkey-agent', 'version']), new RegExp(next.version));
  assert.equal(machine.read(path), configuration);
  const after = await probe();
  assert.equal(after.serial, serial, after.text);
}

export function describeOutcome({ code, seconds, stdout, stderr }: Outcome): string {
  return `ended with ${code} after ${seconds.toFixed(1)} s\n${stdout}\n${stderr}`;
}
