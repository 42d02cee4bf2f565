import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chooseMirror } from './trees.ts';

const OWN = 'http://ftp.de.debian.org/debian/';
const SET = 'http://mirror.example.com/debian/';
const PUBLIC = 'http://deb.debian.org/debian/';

test('trees come from the mirror that is set, or that of apt, or the public one', () => {
  assert.equal(chooseMirror(SET, `${OWN}\n`), SET);
  assert.equal(chooseMirror(undefined, `${OWN}\nhttp://security.debian.org/\n`), OWN);
  assert.equal(chooseMirror('', `${OWN}\n`), OWN);
  // apt of Ubuntu knows no archive of Debian.
  assert.equal(chooseMirror(undefined, ''), PUBLIC);
});
