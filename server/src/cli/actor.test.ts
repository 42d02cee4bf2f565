import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeActor, type ProcessOwner } from './actor.ts';

const PASSWD = 'root:x:0:0:root:/root:/bin/bash\nanna:x:1000:1000:Anna:/home/anna:/bin/bash\n';

const owner: ProcessOwner = {
  uid: 0,
  account: 'root',
  sudoUser: undefined,
  loginUid: '4294967295\n',
  cgroup: '0::/user.slice/user-1000.slice/session-3.scope\n',
  passwd: PASSWD,
};

const cases: readonly (readonly [string, Partial<ProcessOwner>, string])[] = [
  ['names the account', {}, 'cli:root'],
  [
    'names the caller of sudo beside the account',
    { account: 'latchkey', sudoUser: 'anna' },
    'cli:latchkey sudo:anna',
  ],
  ['names the account that logged in, under su', { loginUid: '1000' }, 'cli:root login:anna'],
  [
    'names the account that logged in when SUDO_USER names another one',
    { sudoUser: 'bob', loginUid: '1000' },
    'cli:root sudo:bob login:anna',
  ],
  ['names an account once', { account: 'anna', sudoUser: 'anna', loginUid: '1000' }, 'cli:anna'],
  [
    'names a login uid without an account by its number',
    { loginUid: '4711' },
    'cli:root login:uid-4711',
  ],
  [
    'names a user id without an account by its number',
    { uid: 4711, account: null },
    'cli:uid-4711',
  ],
  [
    'names the systemd service',
    { cgroup: '0::/system.slice/latchkey-export.service\n' },
    'cli:root unit:latchkey-export.service',
  ],
  [
    'names the systemd service of an instance, with both versions of control groups',
    { cgroup: '1:name=systemd:/system.slice/system-job.slice/job@1.service\n0::/\n' },
    'cli:root unit:job@1.service',
  ],
  [
    'prevents a name from forming another word',
    { sudoUser: 'x login:anna\ncli:root' },
    'cli:root sudo:x?login?anna?cli?root',
  ],
  ['works without /proc', { loginUid: null, cgroup: null, passwd: null }, 'cli:root'],
];

for (const [behaviour, facts, expected] of cases) {
  test(`the actor of the audit log ${behaviour}`, () => {
    assert.equal(describeActor({ ...owner, ...facts }), expected);
  });
}
