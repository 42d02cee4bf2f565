import { loadCatalog } from '#server/config/catalog.ts';
import type { ConfigurationReading } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/error-message.ts';
import { type Finding, failure, ok, warning } from './finding.ts';

/** Whether the environment can be understood. */
export function checkSettings(reading: ConfigurationReading): Finding[] {
  const check = 'configuration';
  const findings = [
    ...reading.problems.map((problem) =>
      failure(check, {
        symptom: 'The service does not start (exit code 78).',
        cause: problem,
        fix: 'Correct the variable in the environment or in .env.',
      }),
    ),
    ...reading.warnings.map((problem) =>
      warning(check, {
        symptom: 'A variable has no effect.',
        cause: problem,
        fix: 'Remove it, or look its name up in .env.example.',
      }),
    ),
  ];
  return findings.length > 0 ? findings : [ok(check, 'Every setting is understood.')];
}

/** Whether the catalogue can be used. */
export function checkCatalog(path: string): Finding[] {
  const check = 'catalogue';
  try {
    const { products } = loadCatalog(path);
    return [ok(check, `${path} offers ${[...products.keys()].join(', ')}.`)];
  } catch (error) {
    const causes = error instanceof StartupError ? error.problems : [messageOf(error)];
    return causes.map((cause) =>
      failure(check, {
        symptom: 'The service does not start (exit code 78).',
        cause,
        fix: `Correct ${path}, or name another catalogue in LATCHKEY_CATALOG.`,
      }),
    );
  }
}

/** Whether clients are told an address that they can reach and trust. */
export function checkPublicUrl({ config }: ConfigurationReading): Finding {
  const check = 'public URL';
  const { host, publicUrl } = config.http;
  const local = host === '127.0.0.1' || host === '::1' || host === 'localhost';
  if (publicUrl.startsWith('https:') || local) return ok(check, publicUrl);
  return warning(check, {
    symptom: `Clients reach the service at ${publicUrl}, unencrypted.`,
    cause: `It listens on ${host}, and LATCHKEY_PUBLIC_URL is no https:// address.`,
    fix: 'Put a proxy with TLS before it and set LATCHKEY_PUBLIC_URL to its address.',
  });
}
