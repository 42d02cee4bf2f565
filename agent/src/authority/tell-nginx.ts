import { withAuthority } from './authority.ts';
import { AuthorityError } from './authority-error.ts';
import type { AuthorityContext } from './context.ts';

/** nginx reads a list once, when it is started or told to, and that list must not get out of date in its memory. */
const TOLD_AGAIN_MS = 60 * 86_400_000;

const TIMEOUT_MS = 60_000;

/** What `systemctl is-active` ends with for a unit that is stopped, and for one that is not there. */
const NOT_RUNNING = new Set<number | null>([3, 4]);

/** What became of nginx: not running, up to date, or told to read its files. */
export type NginxState = 'stopped' | 'current' | 'reloaded';

/**
 * Tells nginx to read its files when something of the authority changed since it last did, also when that failed before.
 * @throws AuthorityError when it cannot be told, so that it still goes by the old ones
 */
export async function tellNginx(context: AuthorityContext): Promise<NginxState> {
  return withAuthority(context, async (authority) => {
    const now = context.clock.now();
    const toldAtMs = authority.register.proxyToldAt?.getTime() ?? 0;
    if (now.getTime() - toldAtMs < TOLD_AGAIN_MS) return 'current';
    const state = await reload(context);
    // One that is started later reads what is there then.
    authority.save({ ...authority.register, proxyToldAt: now });
    return state;
  });
}

async function reload({ runProgram }: AuthorityContext): Promise<'reloaded' | 'stopped'> {
  const active = await runProgram('systemctl', ['is-active', '--quiet', 'nginx.service']);
  if (NOT_RUNNING.has(active.code)) return 'stopped';
  const options = { timeoutMs: TIMEOUT_MS };
  const { code, stderr, fault } = await runProgram(
    'systemctl',
    ['reload', 'nginx.service'],
    options,
  );
  if (code === 0) return 'reloaded';
  const why = fault ?? stderr.trim();
  throw new AuthorityError(
    `nginx still goes by the old files, for it could not be reloaded: see what "nginx -t" says, then run "systemctl reload nginx". (${why})`,
  );
}
