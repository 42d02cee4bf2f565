import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainDatabaseFailure } from './explain-failure.ts';

/** PgBouncer reports most of its errors with one SQLSTATE. */
const fixOf = (message: string) =>
  explainDatabaseFailure(Object.assign(new Error(message), { code: '08P01' })).fix;

test("names the fix of each of PgBouncer's own errors", () => {
  for (const [message, fix] of [
    ['SSL required', /^set sslmode=require or more in the URL/u],
    ['password authentication failed', /^correct the user and the password .* auth_file/u],
    ['SASL authentication failed', /^correct the user and the password .* auth_file/u],
    ['no such user: app', /^correct the user and the password .* auth_file/u],
    ['no such database: app', /^correct the database .* \[databases\]/u],
    ['unsupported startup parameter: options', /ignore_startup_parameters/u],
    ['no more connections allowed (max_client_conn)', /^raise max_client_conn/u],
    ['server login failed: FATAL password authentication failed', /^see PgBouncer's log/u],
    [
      'server login has been failing, cached error: x (server_login_retry)',
      /^see PgBouncer's log/u,
    ],
    ['client_login_timeout (server down)', /^see PgBouncer's log/u],
    ['TLS client certificate required', /^set sslcert and sslkey/u],
    ['query_wait_timeout', /^see PgBouncer's log/u],
    ['unexpected message', /^check that the port is that of PostgreSQL or PgBouncer/u],
  ] as const) {
    assert.match(fixOf(message), fix, message);
  }
});
