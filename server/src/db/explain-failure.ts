/** Explains why a database cannot be used, with the fix of each cause. */
import type { Remedy } from '#server/config/startup-error.ts';
import { explainTlsFailure, type TlsFailure } from '#server/lib/tls-failure.ts';
import { codeOf, messageOf } from '#server/lib/unknown-values.ts';

import { NoHostError } from './database-errors.ts';
import { ChannelBindingError, TlsUnsupportedError } from './tls/tls-failures.ts';

const PAGE = 'docs/operations/postgresql.md';

const TRUST = `set sslrootcert to a file with the certificate of its authority (${PAGE})`;

const TLS_FIXES: Readonly<Record<TlsFailure['kind'], string>> = {
  self_signed: `set sslrootcert to a copy of that certificate (${PAGE})`,
  unknown_authority: TRUST,
  host_name: 'use one of those names as host in the URL, or issue a certificate for the host',
  expired: 'renew it on the server, and check the clock of this machine',
  not_yet_valid: 'check the clocks of both machines',
  revoked: 'issue a new one for the server',
  client_certificate: `set sslcert and sslkey to a certificate that the server trusts (${PAGE})`,
  protocol:
    'check that the port is that of PostgreSQL, and that both sides share a TLS version from 1.2 on',
};

/** By SQLSTATE (PostgreSQL, appendix A), and by the codes of system errors. */
const FIXES: Readonly<Record<string, string>> = {
  '28P01': 'correct the user and the password in the URL',
  '3D000': 'create the database, or correct its name in the URL',
  '42501': 'grant the role what it needs (docs/operations/postgresql.md)',
  '53300': 'raise max_connections of the server, or lower LATCHKEY_DATABASE_POOL_SIZE',
  '57P03': 'wait until the server has started, and start Latchkey again',
  '08P01': 'check that the port is that of PostgreSQL or PgBouncer, and the parameter options',
  ENOTFOUND: 'correct the host in the URL, and check the DNS',
  EAI_AGAIN: 'check the DNS of this machine',
  EACCES: 'let the account of the service enter the directory of the socket',
  EHOSTUNREACH: 'check the network and the firewall',
  ENETUNREACH: 'check the network and the firewall',
};

/**
 * PgBouncer's own messages (of version 1.18), which are never translated, and most of which have SQLSTATE 08P01.
 */
const POOLER_FIXES: readonly (readonly [message: RegExp, fix: string])[] = [
  [
    /^(?:SSL|TLS connection) required/u,
    'set sslmode=require or more in the URL, since PgBouncer accepts no unencrypted connection',
  ],
  [/^(?:TLS client certificate required|certificate auth)/u, TLS_FIXES.client_certificate],
  [
    /^(?:"trust"|password|SASL|PAM|LDAP) authentication failed|^no such user|^bouncer config error/u,
    'correct the user and the password in the URL, or in auth_file or auth_query of PgBouncer',
  ],
  [
    /^no such database/u,
    'correct the database in the URL, or add it to the section [databases] of PgBouncer',
  ],
  [
    /^unsupported startup parameter/u,
    'remove options from the URL, or name the parameter in ignore_startup_parameters of PgBouncer',
  ],
  [
    /^no more connections allowed/u,
    'raise max_client_conn of PgBouncer, or lower LATCHKEY_DATABASE_POOL_SIZE',
  ],
  [
    /^server login |^client_login_timeout|^pgbouncer cannot connect|^server_login_retry|^query_wait_timeout|^server conn/u,
    "see PgBouncer's log: it cannot connect to PostgreSQL with the host, the user and server_tls_sslmode of its configuration",
  ],
];

const OTHER_FIX = 'check the URL, and that the server runs';

/** Explains an error of a connection. The driver's message has host, port, user or database, but never the password. */
export function explainDatabaseFailure(error: unknown): Remedy {
  if (error instanceof NoHostError) return explainHosts(error);
  const tls = explainTlsFailure(error);
  if (tls !== null) return { problem: `the server ${tls.problem}`, fix: TLS_FIXES[tls.kind] };
  if (error instanceof TlsUnsupportedError) {
    const fix = `set ssl = on in the server's configuration, or, in a network that you trust, sslmode=prefer in the URL (${PAGE})`;
    return { problem: error.message, fix };
  }
  if (error instanceof ChannelBindingError) {
    const fix =
      'set a password with password_encryption = scram-sha-256, or remove channel_binding=require from the URL';
    return { problem: error.message, fix };
  }
  return { problem: messageOf(error), fix: findFix(error) };
}

/** The fix of a certificate's problem is the same for all hosts. */
function explainHosts(error: NoHostError): Remedy {
  const first = error.causes.find((cause) => explainTlsFailure(cause) !== null);
  const fix = first === undefined ? OTHER_FIX : explainDatabaseFailure(first).fix;
  return { problem: error.message, fix };
}

function findFix(error: unknown): string {
  const code = codeOf(error) ?? '';
  const ofPooler = code === '08P01' ? findPoolerFix(messageOf(error)) : undefined;
  if (ofPooler !== undefined) return ofPooler;
  return code === '28000' ? explainRejection(messageOf(error)) : (FIXES[code] ?? OTHER_FIX);
}

function findPoolerFix(message: string): string | undefined {
  return POOLER_FIXES.find(([text]) => text.test(message))?.[1];
}

/** The messages of SQLSTATE 28000 differ; in another language of the server, the general fix applies. */
function explainRejection(message: string): string {
  if (/no encryption/u.test(message)) {
    return 'set sslmode=require or more in the URL, since the server accepts no unencrypted connection';
  }
  if (/client certificate|certificate authentication/u.test(message)) {
    return TLS_FIXES.client_certificate;
  }
  return "correct the user in the URL, or add this machine to the server's pg_hba.conf";
}
