import type { Context } from '#server/context.ts';
import type { ManualChange } from '#server/features/licenses/change-license.ts';
import type { LicenseRecord } from '#server/features/licenses/queries/licenses.ts';
import { currentActor } from '../actor.ts';
import { readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';
import { type OutputOptions, formatFields, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

/** The options of every command that changes a license. */
export interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

/** Changes the named license and prints what became of it. */
export async function runChange(
  argument: string,
  options: ChangeOptions,
  change: (ctx: Context, change: ManualChange) => Promise<LicenseRecord>,
): Promise<void> {
  const keyOrId = await readLicenseName(argument);
  await withContext(async (ctx) => {
    const { reason } = options;
    const license = await change(ctx, { keyOrId, reason, actor: currentActor() });
    const viewed = viewLicense(license, ctx.clock.now());
    printResult(options, toLicenseJson(viewed), () => formatFields(toLicenseFields(viewed)));
  });
}
