import { Command } from 'commander';
import { sendTest } from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import { endpointArgument } from './view.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

export function endpointTestCommand(): Command {
  const command = new Command('test')
    .description(
      'Send an endpoint a signed message of the type endpoint.test, once and now; exit code 1 when it does not take it.',
    )
    .addArgument(endpointArgument())
    .addOption(jsonOption())
    .action(test);
  return withExamples(command, [
    [
      'endpoint test https://crm.example.com/hooks',
      'Whether it is reached and takes the signature',
    ],
  ]);
}

async function test(idOrUrl: string, options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { endpoint, outcome } = await sendTest(ctx, idOrUrl);
    const { delivered, status, durationMs, error } = outcome;
    const json = {
      endpoint_id: endpoint.id,
      delivered,
      status,
      duration_ms: durationMs,
      error,
    };
    printResult(options, json, () =>
      delivered
        ? `${endpoint.url} took it: ${status} after ${durationMs} ms.`
        : `${endpoint.url} did not take it: ${error} (after ${durationMs} ms).`,
    );
    if (!delivered) process.exitCode = 1;
  });
}
