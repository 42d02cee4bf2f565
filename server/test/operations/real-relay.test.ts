import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { eventually } from '../eventually.ts';
import { startTestService } from '../harness.ts';
import { readHeader, readParts } from '../mail-relay.ts';
import { errorsOf, MAIL_FROM, createSender, manyRecipients } from '../outreach-steps.ts';
import { findFreePort } from '../ports.ts';

const run = promisify(execFile);

const POSTFIX = '/usr/sbin/postfix';

const skip = !existsSync(POSTFIX)
  ? `needs Postfix, and there is no ${POSTFIX}`
  : process.getuid?.() === 0
    ? false
    : 'needs root, to start Postfix';

/** Starts a separate Postfix that delivers mail for example.org into a directory. */
async function startPostfix(): Promise<{ url: string; readMails: () => Promise<string[]> }> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-postfix-'));
  await chmod(directory, 0o755);
  const inside = (name: string): string => join(directory, name);
  for (const name of ['conf', 'spool', 'data', 'mail']) await mkdir(inside(name));
  const { stdout: uid } = await run('id', ['-u', 'postfix']);
  const { stdout: gid } = await run('id', ['-g', 'postfix']);
  await chown(inside('data'), Number(uid), Number(gid));
  await chown(inside('mail'), Number(uid), Number(gid));
  const port = await findFreePort();
  await writeFile(
    inside('conf/main.cf'),
    [
      'compatibility_level = 3.6',
      `queue_directory = ${inside('spool')}`,
      `data_directory = ${inside('data')}`,
      `maillog_file_prefixes = ${directory}`,
      `maillog_file = ${inside('log')}`,
      'inet_interfaces = 127.0.0.1',
      'inet_protocols = ipv4',
      'myhostname = relay.example.com',
      'mydestination =',
      'local_recipient_maps =',
      'alias_maps =',
      'mynetworks = 127.0.0.0/8',
      'smtputf8_enable = no',
      'virtual_mailbox_domains = example.org',
      `virtual_mailbox_base = ${inside('mail')}`,
      'virtual_mailbox_maps = static:all/',
      `virtual_uid_maps = static:${uid.trim()}`,
      `virtual_gid_maps = static:${gid.trim()}`,
      'virtual_minimum_uid = 1',
      'smtpd_recipient_restrictions = check_recipient_access inline:{ { gone@example.org = 550 5.1.1 no such user }, { busy@example.org = 451 4.7.1 come back } }, permit_mynetworks, reject',
      '',
    ].join('\n'),
  );
  await writeFile(
    inside('conf/master.cf'),
    [
      `127.0.0.1:${port} inet n - n - - smtpd`,
      'cleanup unix n - n - 0 cleanup',
      'qmgr unix n - n 300 1 qmgr',
      'rewrite unix - - n - - trivial-rewrite',
      'bounce unix - - n - 0 bounce',
      'defer unix - - n - 0 bounce',
      'trace unix - - n - 0 bounce',
      'proxymap unix - - n - - proxymap',
      'virtual unix - n n - - virtual',
      'error unix - - n - - error',
      'retry unix - - n - - error',
      'discard unix - - n - - discard',
      'anvil unix - - n - 1 anvil',
      'postlog unix-dgram n - n - 1 postlogd',
      '',
    ].join('\n'),
  );
  await run(POSTFIX, ['-c', inside('conf'), 'start']);
  after(async () => {
    await run(POSTFIX, ['-c', inside('conf'), 'stop']);
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  const arrived = inside('mail/all/new');
  return {
    url: `smtp://127.0.0.1:${port}`,
    readMails: async () => {
      if (!existsSync(arrived)) return [];
      const names = await readdir(arrived);
      return Promise.all(names.map((name) => readFile(join(arrived, name), 'utf8')));
    },
  };
}

test('delivers outreach through Postfix, and reports its refusals', { skip }, async () => {
  const postfix = await startPostfix();
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const transport = createSmtpTransport({
    url: postfix.url,
    from: MAIL_FROM,
    dkim: { domain: 'example.com', selector: 'mail', privateKey },
    maxConnections: 5,
  });
  after(() => transport.close());
  const service = await startTestService({ mailFrom: MAIL_FROM, outreachMail: transport });
  const { sendWell } = await createSender(service);

  const recipients = [
    { email: 'zoe@example.org', name: 'Zoë, "the first"' },
    { email: 'gone@example.org' },
    { email: 'busy@example.org' },
    ...manyRecipients(100),
  ];
  const answer = await sendWell({ template: 'sellers', language: 'fr', recipients });
  assert.deepEqual(errorsOf(answer).slice(0, 4), [
    null,
    'smtp_550: 5.1.1 <address>: Recipient address rejected: no such user',
    'smtp_451: 4.7.1 <address>: Recipient address rejected: come back',
    null,
  ]);
  assert.deepEqual([answer.total, answer.sent, answer.failed], [103, 101, 2]);

  await eventually(async () => (await postfix.readMails()).length === 101, {
    timeoutMs: 30_000,
  });
  const mails = (await postfix.readMails()).map((raw) => ({
    from: '',
    to: [],
    raw: raw.replaceAll(/\r?\n/gu, '\r\n'),
  }));
  const ids = mails.map((mail) => readHeader(mail, 'Message-ID'));
  const reported = answer.results.flatMap(({ message_id: id }) => id ?? []);
  assert.deepEqual(new Set(ids), new Set(reported));
  const first = mails.find((mail) => readHeader(mail, 'Delivered-To') === 'zoe@example.org');
  assert.ok(first !== undefined);
  assert.match(readHeader(first, 'List-Unsubscribe') ?? '', /^<https:\/\/.*\/u\/[\w-]+>$/u);
  assert.match(readHeader(first, 'DKIM-Signature') ?? '', /d=example\.com/u);
  assert.match(readParts(first), /^Bonjour Zoë, "the first",$/mu);
});
