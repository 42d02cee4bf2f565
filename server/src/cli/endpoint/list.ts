import { Command } from 'commander';
import { listEndpoints } from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import { formatEvents, stateOf, toEndpointJson } from './view.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

export function endpointListCommand(): Command {
  const command = new Command('list')
    .description('List the endpoints, the oldest first; never their secrets.')
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [['endpoint list', 'Who is told what, and who is failing']]);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const endpoints = await listEndpoints(ctx);
    printResult(options, endpoints.map(toEndpointJson), () =>
      endpoints.length === 0
        ? 'There is no endpoint yet; latchkey endpoint add registers one.'
        : formatTable(
            ['id', 'url', 'events', 'state', 'failing since', 'description'],
            endpoints.map((endpoint) => [
              endpoint.id,
              endpoint.url,
              formatEvents(endpoint),
              stateOf(endpoint),
              endpoint.failingSince,
              endpoint.description,
            ]),
          ),
    );
  });
}
